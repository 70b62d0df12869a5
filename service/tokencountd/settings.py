"""Every setting of the daemon: its name, flag, environment variable, default and meaning.

A flag wins over the environment, the environment over the default. Nothing else in the package
reads the environment; OpenTelemetry's SDK reads its own `OTEL_*` variables beside ours.
"""

import argparse
import dataclasses
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokencountd import units


class SettingsError(ValueError):
    """A setting has a value that is not allowed. `str()` names the setting and what it takes."""


@dataclass(frozen=True)
class _Setting:
    parse: Callable[[str], Any]
    metavar: str
    help: str
    env: str | None
    shown: str | None


def _setting(
    default: Any,
    parse: Callable[[str], Any],
    metavar: str,
    text: str,
    *,
    env: str | None = None,
    shown: str | None = None,
) -> Any:
    """A field with its description. `shown` is the default as the help prints it."""
    about = _Setting(parse, metavar, text, env, shown)
    return dataclasses.field(default=default, metadata={"setting": about})


def _state_dir() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(state).expanduser() / "tokencountd"


def _path(text: str) -> Path:
    return Path(text).expanduser()


@dataclass(frozen=True)
class Settings:
    """The daemon's settings. Sizes are in bytes, times in seconds."""

    listen: str = _setting(
        "127.0.0.1:50051",
        units.address,
        "HOST:PORT",
        "address to serve on; port 0 picks a free one",
    )
    transport: str = _setting(
        "native",
        units.transport,
        "NAME",
        "what carries the calls: native, or grpcio, which Python programs can mount too",
    )
    tls_certificate: Path | None = _setting(
        None, _path, "FILE", "PEM file with the server's certificate chain; read again when it changes"
    )
    tls_key: Path | None = _setting(None, _path, "FILE", "PEM file with the certificate's private key")
    tls_client_ca: Path | None = _setting(
        None,
        _path,
        "FILE",
        "PEM file with the CAs of clients' certificates, each of which names its tenant",
    )
    tokens: Path | None = _setting(
        None,
        _path,
        "FILE",
        "file with the tokens of callers, made by `tokencountd token new`; read again when it changes",
    )
    allow_anonymous: bool = _setting(
        False,
        units.boolean,
        "BOOL",
        "serve callers without a token or certificate; they are one tenant",
        shown="only on a loopback address, without --tokens and --tls-client-ca",
    )
    data_dir: Path | None = _setting(
        None,
        _path,
        "DIR",
        "directory of the store, for one process at a time",
        shown="tokencountd in the user's state directory",
    )
    secret_file: Path | None = _setting(
        None,
        _path,
        "FILE",
        "file with the secret that keys the digests on disk; servers that share records need the same one",
        shown="a random one, kept in the data directory",
    )
    profiles: Path | None = _setting(
        None, _path, "FILE", "TOML file with counting profiles that extend the built-in table"
    )
    store_bytes: int = _setting(1 << 30, units.size, "SIZE", "cap of the store on disk", shown="1GiB")
    tenant_store_bytes: int | None = _setting(
        None, units.size, "SIZE", "cap of one tenant's part of the store"
    )
    time_to_live: float = _setting(
        7 * 86400.0, units.duration, "TIME", "how long a record is kept", shown="7d"
    )
    cache_bytes: int = _setting(
        64 << 20, units.size, "SIZE", "cap of the counts kept in memory", shown="64MiB"
    )
    max_message_bytes: int = _setting(
        32 << 20, units.size, "SIZE", "largest request that is taken", shown="32MiB"
    )
    max_concurrent_calls: int = _setting(
        256, units.positive, "N", "calls in flight above which further ones are told to come back"
    )
    max_connections: int = _setting(
        10_000, units.positive, "N", "connections above which further ones are closed"
    )
    max_connection_age: float = _setting(
        1800.0,
        units.duration,
        "TIME",
        "age at which a connection's client is told to make a new one, give or take a tenth",
        shown="30m",
    )
    keepalive: float = _setting(
        120.0, units.duration, "TIME", "how often a silent client is asked if it is there", shown="2m"
    )
    receive_timeout: float = _setting(
        60.0, units.duration, "TIME", "how long a request may take to arrive", shown="60s"
    )
    tenant_concurrent_calls: int | None = _setting(None, units.positive, "N", "calls in flight of one tenant")
    tenant_calls_per_second: int | None = _setting(None, units.positive, "N", "calls a second of one tenant")
    tenant_bytes_per_second: int | None = _setting(
        None, units.size, "SIZE", "bytes of requests a second of one tenant"
    )
    threads: int = _setting(
        min(8, os.cpu_count() or 1),
        units.positive,
        "N",
        "threads for large prompts and for records",
        shown="one per CPU, at most 8",
    )
    grace_period: float = _setting(
        20.0, units.duration, "TIME", "how long calls in flight may take to finish after SIGTERM", shown="20s"
    )
    drain_delay: float = _setting(
        0.5,
        units.duration,
        "TIME",
        "how long to go on serving after SIGTERM while health already says that the server ends",
        shown="500ms",
    )
    log_level: str = _setting(
        "info", units.log_level, "LEVEL", "least severe log line: debug, info, warning or error"
    )
    prometheus_listen: str | None = _setting(
        None, units.address, "HOST:PORT", "address of a page with metrics for Prometheus", shown="off"
    )
    otlp_endpoint: str | None = _setting(
        None,
        units.url,
        "URL",
        "OpenTelemetry collector that metrics and traces are sent to by gRPC",
        env="OTEL_EXPORTER_OTLP_ENDPOINT",
        shown="off",
    )
    trace_ratio: float = _setting(
        0.0,
        units.ratio,
        "RATIO",
        "share of new traces that is sampled; above 0, a caller's sampled trace is always continued",
    )

    def store_dir(self) -> Path:
        """The directory of the store."""
        return self.data_dir or _state_dir()


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _described() -> dict[str, _Setting]:
    return {field.name: field.metadata["setting"] for field in dataclasses.fields(Settings)}


def _variable(name: str, about: _Setting) -> str:
    return about.env or f"TOKENCOUNTD_{name.upper()}"


def add_arguments(parser: argparse.ArgumentParser, names: Iterable[str] | None = None) -> None:
    """Adds the flags of the settings (all, or those named) to a parser."""
    described = _described()
    for name in names or described:
        about = described[name]
        default = getattr(Settings, name)
        shown = about.shown or ("none" if default is None else default)
        # A flag of truth means yes when it stands alone.
        alone: dict[str, Any] = {"nargs": "?", "const": "true"} if default is False else {}
        parser.add_argument(
            _flag(name),
            metavar=about.metavar,
            default=None,
            **alone,
            help=f"{about.help} (env: {_variable(name, about)}, default: {shown})",
        )


def load(flags: argparse.Namespace, environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings of this start. Raises `SettingsError` for the first wrong value."""
    values: dict[str, Any] = {}
    for name, about in _described().items():
        variable = _variable(name, about)
        given = ((_flag(name), getattr(flags, name, None)), (variable, environ.get(variable) or None))
        for origin, text in given:
            if text is None:
                continue
            try:
                values[name] = about.parse(text)
            except ValueError as error:
                raise SettingsError(f"{origin}: {error}, not {text!r}") from None
            break
    return Settings(**values)
