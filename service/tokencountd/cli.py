"""The command line: `tokencountd serve | count | models | token | health`.

Exit status: 0 if all went well, 1 if something couldn't be counted or served, 2 for a wrong command.
"""

import argparse
from collections.abc import Sequence
from importlib.metadata import version

from tokencountd import settings
from tokencountd.commands import CommandError, complain, count, health, models, serve, token

_EXAMPLES = """examples:
  tokencountd serve --listen 127.0.0.1:50051 --data-dir /var/lib/tokencountd
  tokencountd count request.json
  tokencountd count --encoding o200k_base notes.txt
  tokencountd count --jsonl requests.jsonl > counts.jsonl
  tokencountd models
  tokencountd token new acme --file tokens.toml
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command. Returns the exit status."""
    parser = _parser()
    flags = parser.parse_args(arguments)
    try:
        return flags.run(flags, settings.load(flags))
    except settings.SettingsError as error:
        complain(error)
        return 2
    except CommandError as error:
        complain(error)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tokencountd",
        description="Tells how many tokens a model provider will bill for a prompt, before it is sent.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tokencountd {version('tokencountd')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (serve, count, models, token, health):
        command.add(commands)
    return parser
