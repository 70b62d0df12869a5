"""`tokencountd token new`: a token for a caller, and the line by which the server knows it."""

import argparse
import hashlib
import os
import secrets
import string
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from tokencountd import units
from tokencountd.commands import CommandError
from tokencountd.settings import Settings, SettingsError

if TYPE_CHECKING:
    from tokencountd.commands import Subparsers

_ABOUT = """Makes a token for a tenant's callers, adds its hash to a file, and prints the token, which is
kept nowhere. Callers send it as `authorization: Bearer TOKEN`; `tokencountd serve --tokens FILE`
knows it within seconds. To end a token before its time, delete its entry from the file.

example:
  tokencountd token new acme --expires 90d --file /etc/tokencountd/tokens.toml"""

_ID = string.ascii_lowercase + string.digits
_ID_LENGTH = 12
_SECRET_BYTES = 32


def add(commands: "Subparsers") -> None:
    """Adds the command."""
    token = commands.add_parser("token", help="make tokens for callers")
    actions = token.add_subparsers(title="commands", metavar="COMMAND", required=True)
    parser = actions.add_parser(
        "new",
        help="make a token",
        description=_ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "tenant", metavar="TENANT", help="whose calls it makes; tenants see nothing of each other"
    )
    parser.add_argument(
        "--file", metavar="FILE", type=Path, required=True, help="file of tokens, made if missing"
    )
    parser.add_argument(
        "--expires", metavar="TIME", help="how long it is good, such as 90d (default: for ever)"
    )
    parser.set_defaults(run=_run)


def _run(flags: argparse.Namespace, _values: Settings) -> int:
    try:
        expires = None if flags.expires is None else units.duration(flags.expires)
    except ValueError as error:
        raise SettingsError(f"--expires: {error}, not {flags.expires!r}") from None
    if not flags.tenant.isprintable() or set(flags.tenant) & set('"\\') or not flags.tenant:
        raise SettingsError("TENANT: takes a name without quotes, backslashes and control characters")
    identity = "".join(secrets.choice(_ID) for _ in range(_ID_LENGTH))
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    try:
        _append(flags.file, _entry(flags.tenant, identity, secret, expires))
    except OSError as error:
        raise CommandError(f"can't write {flags.file}: {error.strerror}") from error
    print(f"tc_{identity}_{secret}")
    return 0


def _entry(tenant: str, identity: str, secret: str, expires: float | None) -> str:
    lines = [
        "[[token]]",
        f'tenant = "{tenant}"',
        f'id = "{identity}"',
        f'sha256 = "{hashlib.sha256(secret.encode()).hexdigest()}"',
    ]
    if expires is not None:
        end = datetime.now(UTC) + timedelta(seconds=expires)
        lines.append(f"expires = {end.isoformat(timespec='seconds')}")
    return "\n".join(lines) + "\n\n"


def _append(path: Path, entry: str) -> None:
    """Whole or not at all for a reader: one write at the end of the file, readable by its owner only."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, entry.encode())
    finally:
        os.close(file)
