"""What the tests of the service share: real server processes, and how to look at them."""

import json
import os
import re
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2  # pyright: ignore[reportMissingTypeStubs]

SERVICE = "tokencount.v1.TokenCounterService"
GATED = Path(__file__).with_name("gated.py")
PATIENCE = 30.0
LONGEST = 600.0


class Daemon:
    """A `tokencountd serve` process. A watchdog ends it, so that no test can hang on it."""

    def __init__(self, directory: Path, *flags: str, **environ: str) -> None:
        self.log = directory / "log"
        program = [str(GATED)] if "GATE" in environ else ["-m", "tokencountd"]
        command = [sys.executable, *program, "serve", "--listen", "127.0.0.1:0"]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*command, "--data-dir", str(directory / "data"), *flags],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, **environ},
            )
        self._watchdog = threading.Timer(LONGEST, self.process.kill)
        self._watchdog.start()
        assert self.process.stdout
        self.first_line = self.process.stdout.readline()
        match = re.fullmatch(r"tokencountd listening on (\S+:\d+)\n", self.first_line)
        self.address = match[1] if match else ""

    def channel(self) -> grpc.Channel:
        assert self.address, self.log.read_text()
        options = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]
        return grpc.insecure_channel(self.address, options)

    def stop(self) -> int:
        self.process.terminate()
        return self.wait()

    def wait(self) -> int:
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self._watchdog.cancel()

    def events(self) -> list[dict[str, Any]]:
        """The log so far, without what gRPC itself prints when a call is cut off."""
        lines = self.log.read_text().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line[0] == "{" and line.endswith("\n")]

    def event(self, message: str) -> dict[str, Any]:
        """The first event of that name; waits for it."""
        until(lambda: any(event["message"] == message for event in self.events()))
        return next(event for event in self.events() if event["message"] == message)


def scrape(address: str) -> dict[str, float]:
    """The samples of a Prometheus page by name and labels."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=PATIENCE) as page:
        lines = page.read().decode().splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}


def until(condition: Callable[[], bool]) -> None:
    """Returns when the condition holds; fails when it never does."""
    turn = threading.Event()
    for _ in range(int(PATIENCE / 0.02)):
        if condition():
            return
        turn.wait(0.02)
    pytest.fail("never came true")


def words(count: int) -> str:
    """Text without repetition that a cache or a shortcut could live on; some 7 bytes a word."""
    return " ".join(f"w{number * 2654435761 % 1000003}" for number in range(count))


def method(channel: grpc.Channel, name: str) -> Any:
    """One of the service's methods over bytes."""
    return channel.unary_unary(f"/{SERVICE}/{name}")  # pyright: ignore[reportUnknownVariableType]


def error_of(call: Callable[[], object]) -> tuple[grpc.RpcError, list[Any]]:
    """The error of a call that must fail, and its details."""
    with pytest.raises(grpc.RpcError) as caught:
        call()
    metadata: Any = caught.value.trailing_metadata()
    trailer: dict[str, Any] = dict(metadata or ())
    status = status_pb2.Status.FromString(trailer.get("grpc-status-details-bin", b""))
    return caught.value, [unpacked(detail) for detail in status.details]


def unpacked(detail: Any) -> Any:
    message = getattr(error_details_pb2, detail.type_url.rpartition(".")[2])()
    assert detail.Unpack(message)
    return message
