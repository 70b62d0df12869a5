"""LiteLLM and tiktoken, and LiteLLM's proxy: in processes and an environment of their own (`peers.txt`)."""

import contextlib
import http.client
import json
import os
import secrets
import socket
import subprocess
import time
from collections.abc import Generator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from benchmarks import prompts
from benchmarks.results import ROOT

NAMES = ("tiktoken", "litellm")

Prompts = list[list[dict[str, str]]]

_HOME = ROOT / ".work" / "peers"
_BIN = _HOME / "bin"
PYTHON = _BIN / "python"
"""The interpreter of the environment."""
_VOCABULARIES = "lib/python*/site-packages/litellm/litellm_core_utils/tokenizers"
_PATIENCE = 60.0


@dataclass(frozen=True)
class Counted:
    """What a peer said of a batch of prompts."""

    cpu_seconds: float
    """For all of them."""
    seconds: list[float]
    """For each, by the clock on the wall."""
    tokens: list[int]


def environ() -> dict[str, str]:
    """What the peers' processes are told: LiteLLM brings prices and vocabularies, so nothing is fetched."""
    vocabularies = str(next(_HOME.glob(_VOCABULARIES)))
    return {
        **os.environ,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "TIKTOKEN_CACHE_DIR": vocabularies,
        "CUSTOM_TIKTOKEN_CACHE_DIR": vocabularies,
    }


class Peers:
    """The process that counts with libraries; see `peer.py`."""

    def __init__(self) -> None:
        command = [PYTHON, ROOT / "benchmarks" / "peer.py"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ()
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()

    def count(self, counter: str, batch: Prompts) -> Counted:
        """Counts with one of `NAMES`."""
        assert self._process.stdin
        assert self._process.stdout
        order = {"counter": counter, "model": prompts.MODEL, "prompts": batch}
        print(json.dumps(order), file=self._process.stdin, flush=True)
        return Counted(**json.loads(self._process.stdout.readline()))


class Proxy:
    """LiteLLM's proxy, asked over a connection that is kept."""

    def __init__(self, port: int, key: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def count(self, turns: list[dict[str, str]]) -> int:
        """Asks `/utils/token_counter`."""
        body = json.dumps({"model": prompts.MODEL, "messages": turns})
        answer = self._ask("POST", "/utils/token_counter", body)
        return answer["total_tokens"]

    def lives(self) -> bool:
        """Whether it answers by now."""
        try:
            self._ask("GET", "/health/liveliness")
        except (OSError, http.client.HTTPException):
            self._connection.close()
            return False
        return True

    def _ask(self, method: str, path: str, body: str | None = None) -> Any:
        self._connection.request(method, path, body, self._headers)
        response = self._connection.getresponse()
        answer = response.read()
        if response.status != http.HTTPStatus.OK:
            raise http.client.HTTPException(answer.decode(errors="replace"))
        return json.loads(answer)


@contextlib.contextmanager
def proxy() -> Generator[Proxy]:
    """Starts the proxy on the loopback, with a key that is made for this run."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    key = f"sk-{secrets.token_hex()}"
    command = [_BIN / "litellm", "--host", "127.0.0.1", "--port", str(port), "--telemetry", "False"]
    # The others' turns are longer than the 5 s after which it would close the connection.
    command += ["--keepalive_timeout", "600"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**environ(), "LITELLM_MASTER_KEY": key},
    )
    try:
        server = Proxy(port, key)
        end = time.monotonic() + _PATIENCE
        while not server.lives():
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError("LiteLLM's proxy did not start")
            time.sleep(0.1)
        yield server
    finally:
        process.terminate()
        process.wait()
