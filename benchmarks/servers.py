"""The servers that are measured side by side: both of our transports, and each without a service."""

import contextlib
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import NamedTuple

from benchmarks import processes
from benchmarks.processes import Server


class Servers(NamedTuple):
    """All of them, with an empty store where they have one."""

    native: Server
    tonic_echo: Server
    """What the native transport costs its user at least."""
    grpcio: Server
    grpcio_echo: Server


NAMES = tuple(field.replace("_", " ") for field in Servers._fields)


@contextlib.contextmanager
def all_servers() -> Generator[Servers]:
    """Starts them."""
    with contextlib.ExitStack() as stack:
        # One secret, so that one prefix key is known to both.
        secret = stack.enter_context(tempfile.NamedTemporaryFile())
        Path(secret.name).write_bytes(b"a secret of these benchmarks only")
        ours = ("--secret-file", secret.name, "--transport")
        yield Servers(
            native=stack.enter_context(processes.tokencountd(*ours, "native")),
            tonic_echo=stack.enter_context(processes.tonic_echo()),
            grpcio=stack.enter_context(processes.tokencountd(*ours, "grpcio")),
            grpcio_echo=stack.enter_context(processes.grpcio_echo()),
        )
