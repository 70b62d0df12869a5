"""Logs: JSON, without the text of what broke, and not one line for each of a thousand errors."""

import json
import logging

from tokencountd.logs import JsonFormatter, RateLimit


def record(level: int = logging.ERROR, message: str = "call failed", **extra: object) -> logging.LogRecord:
    made = logging.LogRecord("tokencountd", level, "file.py", 1, message, None, None)
    made.__dict__.update(extra)
    return made


def test_a_line_is_an_object() -> None:
    line = json.loads(JsonFormatter().format(record(logging.INFO, "ready", fields={"address": "a:1"})))
    assert line.pop("time").endswith("+00:00")
    assert line == {"level": "info", "logger": "tokencountd", "message": "ready", "address": "a:1"}


def test_an_exception_is_told_without_its_sentence() -> None:
    try:
        raise ValueError("text of a prompt")
    except ValueError as error:
        text = JsonFormatter().format(record(exc_info=(type(error), error, error.__traceback__)))
    assert "text of a prompt" not in text
    line = json.loads(text)
    assert line["exception"] == "ValueError"
    assert __file__ in line["frames"][0]


def test_a_repeated_error_is_counted_rather_than_written() -> None:
    limit = RateLimit()
    assert [limit.filter(record()) for _ in range(100)] == [True] + [False] * 99
    assert limit.filter(record(message="another"))
    limit._last["call failed"] = (0.0, 99)  # pyright: ignore[reportPrivateUsage]
    late = record()
    assert limit.filter(late)
    assert late.__dict__["fields"] == {"left_out": 99}


def test_what_is_no_error_is_never_left_out() -> None:
    limit = RateLimit()
    assert all(limit.filter(record(logging.WARNING)) for _ in range(100))
