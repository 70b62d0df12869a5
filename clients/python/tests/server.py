"""Runs the real server for the tests."""

import os
import shlex
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Self

REPOSITORY = Path(__file__).parents[3]
COMMAND = os.environ.get("TOKENCOUNTD", str(REPOSITORY / ".venv/bin/tokencountd"))


class Server:
    """A server with an empty store of its own, until the end of the `with` statement."""

    def __init__(self, port: int = 0) -> None:
        self._listen = f"127.0.0.1:{port}"
        self.address = ""
        self._end = signal.SIGTERM

    def __enter__(self) -> Self:
        self._directory = tempfile.TemporaryDirectory()
        command = [*shlex.split(COMMAND), "serve", "--listen", self._listen]
        self._process = subprocess.Popen(
            [*command, "--data-dir", self._directory.name], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"{COMMAND} printed no address"
        self.address = line.split()[-1]
        return self

    def crash(self) -> None:
        """Let the `with` statement end it as a crash does."""
        self._end = signal.SIGKILL

    def __exit__(self, *exception: object) -> None:
        self._process.send_signal(self._end)
        status = self._process.wait(timeout=20)
        self._directory.cleanup()
        expected = 0 if self._end is signal.SIGTERM else -self._end
        assert status == expected, f"the server ended with {status}"

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])
