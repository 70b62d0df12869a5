"""Structured logs: one JSON object a line on stderr, never with text of a prompt.

Nothing is written per call. An error that repeats is written once a second at most, with the
number of those left out.
"""

import json
import logging
import sys
import threading
import time
from datetime import UTC, datetime

LOGGER = logging.getLogger("tokencountd")

_INTERVAL = 1.0
_MESSAGES = 1000


class JsonFormatter(logging.Formatter):
    """A record as one JSON object: `time`, `level`, `logger`, `message`, and the event's fields.

    An exception is given as its type and its frames. Its sentence is left out: of a defect it may
    quote the data at hand.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line without its end."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[0]:
            line["exception"] = record.exc_info[0].__name__
            line["frames"] = _frames(record)
        return json.dumps(line, default=str, ensure_ascii=True)


def _frames(record: logging.LogRecord) -> list[str]:
    frames: list[str] = []
    trace = record.exc_info[2] if record.exc_info else None
    while trace is not None and len(frames) < 20:
        code = trace.tb_frame.f_code
        frames.append(f"{code.co_filename}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return frames


class RateLimit(logging.Filter):
    """Lets one error a second through for each message."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._last: dict[str, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written; notes in it how many before it were not."""
        if record.levelno < logging.ERROR:
            return True
        now = time.monotonic()
        with self._lock:
            if len(self._last) > _MESSAGES:
                self._last.clear()
            last, left_out = self._last.get(str(record.msg), (-_INTERVAL, 0))
            if now - last < _INTERVAL:
                self._last[str(record.msg)] = (last, left_out + 1)
                return False
            self._last[str(record.msg)] = (now, 0)
        if left_out:
            record.fields = {**getattr(record, "fields", {}), "left_out": left_out}
        return True


def configure(level: str) -> None:
    """Sends the whole process's logs to stderr as JSON from `level` on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    handler.addFilter(RateLimit())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)


def event(
    message: str, level: int = logging.INFO, *, exc_info: BaseException | None = None, **fields: object
) -> None:
    """Writes an event. `message` is constant; what varies is in `fields`."""
    LOGGER.log(level, message, exc_info=exc_info, extra={"fields": fields})
