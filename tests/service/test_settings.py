"""Settings: where a value comes from, what it may be, and that nothing else reads the environment."""

import argparse
import re
from pathlib import Path

import pytest

import tokencountd
from tokencountd import settings, units
from tokencountd.settings import Settings, SettingsError


def load(*flags: str, **environ: str) -> Settings:
    parser = argparse.ArgumentParser()
    settings.add_arguments(parser)
    return settings.load(parser.parse_args(flags), environ)


def test_a_flag_wins_over_the_environment_and_that_over_the_default() -> None:
    assert load().threads == Settings().threads
    assert load(TOKENCOUNTD_THREADS="3").threads == 3
    assert load("--threads", "5", TOKENCOUNTD_THREADS="3").threads == 5
    assert load(TOKENCOUNTD_THREADS="").threads == Settings().threads


def test_an_unused_wrong_variable_is_no_error() -> None:
    assert load("--threads", "5", TOKENCOUNTD_THREADS="x").threads == 5


def test_opentelemetry_has_its_own_variable() -> None:
    assert load(OTEL_EXPORTER_OTLP_ENDPOINT="http://collector:4317").otlp_endpoint == "http://collector:4317"


@pytest.mark.parametrize(
    ("flags", "environ", "error"),
    [
        (["--threads", "0"], {}, "--threads: takes a whole number"),
        (["--grace-period", "soon"], {}, "--grace-period: takes a time such as"),
        ([], {"TOKENCOUNTD_STORE_BYTES": "1 apple"}, "TOKENCOUNTD_STORE_BYTES: takes a size"),
        (["--tenant-store-bytes", "0"], {}, "--tenant-store-bytes: takes a size above 0"),
        ([], {"OTEL_EXPORTER_OTLP_ENDPOINT": "collector"}, "OTEL_EXPORTER_OTLP_ENDPOINT: takes a URL"),
        (["--trace-ratio", "2"], {}, "--trace-ratio: takes a number from 0 to 1"),
        (["--log-level", "loud"], {}, "--log-level: takes one of debug"),
        (["--listen", "50051"], {}, "--listen: takes HOST:PORT"),
    ],
)
def test_a_wrong_value_is_named(flags: list[str], environ: dict[str, str], error: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(error)):
        load(*flags, **environ)


@pytest.mark.parametrize(
    ("text", "value"),
    [("4096", 4096), ("64MiB", 64 << 20), ("1.5 gib", 3 << 29), ("1b", 1)],
)
def test_sizes(text: str, value: int) -> None:
    assert units.size(text) == value


@pytest.mark.parametrize("text", ["", "0", "-1", "1e9", "64MB", "MiB", "9" * 19, "٣", "inf"])
def test_sizes_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match="size"):
        units.size(text)


@pytest.mark.parametrize(("text", "value"), [("500ms", 0.5), ("10", 10), ("2m", 120), ("7d", 604_800)])
def test_times(text: str, value: float) -> None:
    assert units.duration(text) == value


@pytest.mark.parametrize("text", ["127.0.0.1:0", "[::]:50051", "localhost:65535"])
def test_addresses(text: str) -> None:
    assert units.address(text) == text


@pytest.mark.parametrize("text", ["", ":1", "host", "host:", "host:65536", "::1:80", "host:1x"])
def test_addresses_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match="HOST:PORT"):
        units.address(text)


def test_the_help_names_every_variable_and_default() -> None:
    parser = argparse.ArgumentParser()
    settings.add_arguments(parser)
    text = " ".join(parser.format_help().split())
    for name in Settings.__dataclass_fields__:
        flag = "--" + name.replace("_", "-")
        assert re.search(rf"{flag} \[?\w+(:\w+)?\]? .*?\(env: \w+, default: [^)]+\)", text), name


def test_nothing_else_reads_the_environment() -> None:
    package = Path(tokencountd.__file__).parent
    readers = [
        path.name for path in package.rglob("*.py") if re.search(r"os\.environ|getenv", path.read_text())
    ]
    assert readers == ["settings.py"]
