"""The daemon, except that a large count waits at a gate until the test opens it.

The gate is a FIFO: the count reads it, so it waits until the test has opened and closed it. Thus a
call is in flight for exactly as long as a test wants, however fast the engine is.
"""

import os
import sys
from pathlib import Path
from typing import Any

from tokencountd import cli, lifecycle
from tokencountd.handlers import INLINE_BYTES


class Gated:
    """The engine behind the gate."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def count_messages(self, request: bytes, tenant: str = "", timeout: float | None = None) -> bytes:
        if len(request) > INLINE_BYTES:
            Path(os.environ["GATE"]).read_bytes()
        return self._engine.count_messages(request, tenant, timeout)


open_engine: Any = lifecycle.open_engine
lifecycle.open_engine = lambda settings: Gated(open_engine(settings))  # pyright: ignore[reportAttributeAccessIssue]
sys.exit(cli.main())
