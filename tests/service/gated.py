"""The daemon, except that a large count waits at a gate until the test opens it.

The gate is a FIFO: the count reads it, so it waits until the test has opened and closed it. Thus a
call is in flight for exactly as long as a test wants, however fast the engine is.
"""

import os
import sys
from pathlib import Path
from typing import Any

from tokencountd import cli, lifecycle

LARGE = 64 << 10
"""A request above this size waits at the gate, on a thread of its own whatever the transport."""

open_engine: Any = lifecycle.open_engine


def gated(settings: Any) -> Any:
    engine = open_engine(settings)
    engine.set_hook(wait)
    return engine


def wait(_method: str, size: int) -> None:
    if size > LARGE:
        Path(os.environ["GATE"]).read_bytes()


if __name__ == "__main__":
    lifecycle.open_engine = gated
    sys.exit(cli.main())
