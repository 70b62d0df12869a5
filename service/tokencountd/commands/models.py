"""`tokencountd models`: the profile table."""

import argparse
import json
from typing import TYPE_CHECKING

from tokencountd import settings
from tokencountd.commands import engine
from tokencountd.commands.table import table
from tokencountd.settings import Settings

if TYPE_CHECKING:
    from tokencountd.commands import Subparsers


def add(commands: "Subparsers") -> None:
    """Adds the command."""
    about = "Lists the counting profiles: the models' family, encoding and context window."
    parser = commands.add_parser("models", help="list the counting profiles", description=about)
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    settings.add_arguments(parser, ["profiles"])
    parser.set_defaults(run=_run)


def _run(flags: argparse.Namespace, values: Settings) -> int:
    profiles = engine(values).profiles()
    if flags.json:
        print(json.dumps(profiles, indent=2))
        return 0
    columns = ("name", "family", "encoding", "window", "format")
    rows = [[str(profile[column] or "-") for column in columns] for profile in profiles]
    print(table([[column.upper() for column in columns], *rows], right=(3,)))
    return 0
