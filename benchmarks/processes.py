"""Server processes that are measured: started, watched by their id, and stopped whatever happens."""

import contextlib
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.results import ROOT

PATIENCE = 30.0
_TONIC_ECHO = ROOT / ".work" / "bin" / "tonic-echo"


@dataclass(frozen=True)
class Server:
    """A server that listens."""

    address: str
    process: "subprocess.Popen[str]"

    def cpu_seconds(self) -> float:
        """CPU time of the whole process so far, user and system, all threads."""
        # The clock of another process, as clock_getcpuclockid(3) makes its id: /proc/PID/stat has
        # the same figure in steps of 10 ms only.
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def resident_bytes(self) -> int:
        """Memory of the process that is in use now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) << 10

    def stop(self) -> int:
        """Tells it to end, by force if it doesn't, and gives its exit status."""
        self.process.terminate()
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


@contextlib.contextmanager
def tokencountd(*flags: str) -> Generator[Server]:
    """A daemon on a free port, if the flags name none, with an empty store."""
    with tempfile.TemporaryDirectory() as data:
        arguments = ["serve", "--listen", "127.0.0.1:0", "--data-dir", data, "--log-level", "error", *flags]
        with started([sys.executable, "-m", "tokencountd", *arguments]) as server:
            yield server


@contextlib.contextmanager
def grpcio_echo() -> Generator[Server]:
    """The bare grpcio, without a service behind it."""
    with started([sys.executable, "-m", "benchmarks.echo"]) as server:
        yield server


@contextlib.contextmanager
def tonic_echo() -> Generator[Server]:
    """The bare tonic, without a service behind it."""
    with started([str(_TONIC_ECHO)]) as server:
        yield server


@contextlib.contextmanager
def started(command: Sequence[str], environ: Mapping[str, str] = os.environ) -> Generator[Server]:
    """Runs a command that prints a line which ends with its address when it is ready."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ)
    server = Server("", process)
    try:
        assert process.stdout
        line = process.stdout.readline().split()
        if not line:
            raise RuntimeError(f"{shlex.join(command)} did not start")
        yield replace(server, address=line[-1])
    finally:
        server.stop()
