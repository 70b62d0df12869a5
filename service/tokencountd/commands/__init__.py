"""The commands of the command line, one module each: `add(commands)` and what it runs."""

import argparse
import sys
from typing import TYPE_CHECKING

from tokencountd import _core
from tokencountd.settings import Settings

if TYPE_CHECKING:
    # The type of what `add_subparsers` gives has no public name.
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]


class CommandError(Exception):
    """The command can't be done. `str()` says why."""


def engine(values: Settings) -> _core.Engine:
    """An engine in memory, with the profiles of the settings."""
    try:
        if not values.profiles:
            return _core.Engine(cache_bytes=values.cache_bytes)
        profiles, directory = values.profiles.read_text(), str(values.profiles.parent)
        return _core.Engine(profiles=profiles, profiles_dir=directory, cache_bytes=values.cache_bytes)
    except OSError as error:
        raise CommandError(f"can't read {values.profiles}: {error.strerror}") from error
    except ValueError as error:
        raise CommandError(f"{values.profiles}: {error}") from error


def complain(message: object) -> None:
    """Says on stderr what is wrong."""
    print(f"tokencountd: {message}", file=sys.stderr)
