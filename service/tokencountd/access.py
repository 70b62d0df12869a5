"""Who may call: the files of tokens and certificates, read at the start and again when they change."""

import asyncio
import logging
import tomllib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from tokencountd import logs
from tokencountd.settings import Settings, SettingsError

INTERVAL = 2.0
"""Seconds between two looks at the files. Files that a cluster mounts change by a link, of which not
every file system tells, so they are looked at."""

_LOOPBACK = ("127.", "localhost:", "[::1]:")
_SHA256_BYTES = 32


class Pem(NamedTuple):
    """The texts of a TLS configuration."""

    certificate: bytes
    key: bytes
    client_ca: bytes | None
    required: bool
    """Whether a client must have a certificate."""


Token = tuple[str, str, bytes, float | None]
"""Tenant, id, SHA-256 of the secret, and when it expires in seconds since the epoch."""


def anonymous(settings: Settings) -> bool:
    """Whether callers that show nothing are served. Raises `SettingsError` if that would be careless."""
    if settings.allow_anonymous:
        return True
    local = settings.listen.startswith(_LOOPBACK)
    if settings.tokens and not settings.tls_certificate and not local:
        logs.event("tokens without TLS: who is on the way can read them", logging.WARNING)
    if settings.tokens or settings.tls_client_ca:
        return False
    if not local:
        raise SettingsError(
            f"--listen {settings.listen}: anyone could call; give --tokens or --tls-client-ca,"
            " or --allow-anonymous if that is wanted"
        )
    return True


def tls(settings: Settings) -> Pem | None:
    """The TLS configuration, or None without one. Raises `SettingsError` for files that can't be read."""
    if not settings.tls_certificate and not settings.tls_key:
        if settings.tls_client_ca:
            raise SettingsError("--tls-client-ca: needs --tls-certificate and --tls-key")
        return None
    if not settings.tls_certificate or not settings.tls_key:
        raise SettingsError("--tls-certificate and --tls-key: one needs the other")
    client_ca = settings.tls_client_ca and _read("--tls-client-ca", settings.tls_client_ca)
    required = client_ca is not None and not settings.tokens and not settings.allow_anonymous
    certificate = _read("--tls-certificate", settings.tls_certificate)
    return Pem(certificate, _read("--tls-key", settings.tls_key), client_ca, required)


def tokens(settings: Settings) -> list[Token]:
    """The tokens of the file, none without one. Raises `SettingsError` for a wrong file."""
    if not settings.tokens:
        return []
    try:
        rows: list[dict[str, Any]] = tomllib.loads(_read("--tokens", settings.tokens).decode()).get(
            "token", []
        )
        read = [_token(row) for row in rows]
    except (ValueError, TypeError, AttributeError) as error:
        raise SettingsError(f"--tokens {settings.tokens}: {error}") from None
    ids = [token[1] for token in read]
    if len(set(ids)) != len(ids):
        raise SettingsError(f"--tokens {settings.tokens}: two tokens have one id")
    return read


def _token(row: dict[str, Any]) -> Token:
    missing = {"tenant", "id", "sha256"} - row.keys()
    if missing:
        raise ValueError(f"a token has no {min(missing)}")
    digest = bytes.fromhex(row["sha256"])
    if len(digest) != _SHA256_BYTES:
        raise ValueError(f"sha256 of token {row['id']}: takes 64 hexadecimal digits")
    expires = row.get("expires")
    if expires is not None and not isinstance(expires, datetime):
        raise ValueError(f"expires of token {row['id']}: takes a time such as 2030-01-31T00:00:00Z")
    if expires is not None and expires.tzinfo is None:
        expires = expires.replace(tzinfo=UTC)
    return str(row["tenant"]), str(row["id"]), digest, expires and expires.timestamp()


def _read(flag: str, path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SettingsError(f"{flag} {path}: {error.strerror}") from None


class Files:
    """The files that say who may call, watched from now on: made before they are read, so that no
    change is missed.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        paths = [settings.tokens, settings.tls_certificate, settings.tls_key, settings.tls_client_ca]
        self._paths = [path for path in paths if path]
        self._seen = self._stamps()

    def _stamps(self) -> list[tuple[int, int, int] | None]:
        return [_stamp(path) for path in self._paths]

    async def watch(self, set_tokens: Callable[[list[Token]], None], set_tls: Callable[[Pem], None]) -> None:
        """Gives on what the files hold when they change. A wrong file is logged, and what was read
        before stays in use.
        """
        while self._paths:
            await asyncio.sleep(INTERVAL)
            now = self._stamps()
            if now == self._seen:
                continue
            self._seen = now
            try:
                set_tokens(tokens(self._settings))
                if pem := tls(self._settings):
                    set_tls(pem)
            except (SettingsError, ValueError) as error:
                logs.event("files not reloaded", logging.ERROR, reason=str(error))
            else:
                logs.event("files reloaded")


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
