"""Server processes that are measured: started, watched by their id, and stopped whatever happens."""

import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 30.0


@dataclass(frozen=True)
class Server:
    """A server that listens."""

    address: str
    pid: int

    def cpu_seconds(self) -> float:
        """CPU time of the whole process so far, user and system, all threads."""
        # The clock of another process, as clock_getcpuclockid(3) makes its id: /proc/PID/stat has
        # the same figure in steps of 10 ms only.
        return time.clock_gettime((~self.pid << 3) | 2)

    def resident_bytes(self) -> int:
        """Memory of the process that is in use now."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) << 10


@contextlib.contextmanager
def tokencountd() -> Generator[Server]:
    """A daemon on a free port with an empty store."""
    with tempfile.TemporaryDirectory() as data:
        arguments = ["serve", "--listen", "127.0.0.1:0", "--data-dir", data, "--log-level", "error"]
        with _server(["tokencountd", *arguments]) as server:
            yield server


@contextlib.contextmanager
def echo() -> Generator[Server]:
    """The peer: the same transport without a service behind it."""
    with _server(["benchmarks.echo"]) as server:
        yield server


@contextlib.contextmanager
def _server(module: Sequence[str]) -> Generator[Server]:
    """Runs a module that prints a line which ends with its address when it is ready."""
    process = subprocess.Popen([sys.executable, "-m", *module], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        line = process.stdout.readline().split()
        if not line:
            raise RuntimeError(f"{module[0]} did not start")
        yield Server(line[-1], process.pid)
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
