"""`tokencountd serve`: the daemon."""

import argparse
from typing import TYPE_CHECKING

from tokencountd import settings
from tokencountd.commands import CommandError
from tokencountd.settings import Settings

if TYPE_CHECKING:
    from tokencountd.commands import Subparsers

_ABOUT = """Serves tokencount.v1.TokenCounterService by gRPC, with grpc.health.v1 and reflection.

Prints one line with the address when it is ready. SIGTERM drains: health turns NOT_SERVING, calls
in flight finish, the store is flushed. Logs are JSON lines on stderr and hold no text of a prompt.
Every flag has an environment variable; a flag wins."""


def add(commands: "Subparsers") -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "serve",
        help="serve by gRPC",
        description=_ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    settings.add_arguments(parser)
    parser.set_defaults(run=_run)


def _run(_flags: argparse.Namespace, values: Settings) -> int:
    # Imported here: the other commands need no gRPC, and start faster without it.
    from tokencountd import lifecycle

    try:
        return lifecycle.serve(values)
    except lifecycle.StartError as error:
        raise CommandError(error) from error
