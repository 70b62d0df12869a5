"""A client that sends nonsense, and notes every answer that nonsense must not have."""

import contextlib
import os
import random
import socket
import threading
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import grpc

from benchmarks import prompts
from benchmarks.processes import Server
from benchmarks.soak import frames
from benchmarks.soak.client import TIMEOUT, channel
from benchmarks.soak.frames import Connection
from tokencount.v1 import CountMessagesRequest, EstimateConversationRequest, Format, ProviderRequest

METHODS = ("CountMessages", "EstimateConversation", "RecordActual")
FORMATS = Format.values()
LARGEST = 64 << 10

REFUSALS = frozenset(
    {
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    }
)
"""What nonsense may be answered with. INTERNAL is a panic, DEADLINE_EXCEEDED a call that hangs."""


class Vandal:
    """A thread that misbehaves until the end of the `with` statement."""

    def __init__(self, server: Server, seed: int = 0) -> None:
        self.attempts = 0
        self.wrong: Counter[str] = Counter()
        self._server = server
        self._source = random.Random(seed)
        self._channel = channel(server.address)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work)

    def _work(self) -> None:
        tricks: list[Callable[[], None]] = [
            *[self._noise] * 4,
            *[self._damage] * 8,
            *[self._bodies] * 8,
            self._leave,
            self._hurry,
            self._strange_frames,
            self._no_http,
        ]
        while not self._stopped.is_set():
            self._source.choice(tricks)()
            self.attempts += 1

    def _send(self, method: str, request: bytes) -> None:
        """A call whose request may be anything."""
        try:
            self._call(method)(request, timeout=TIMEOUT)
        except grpc.RpcError as error:
            if error.code() not in REFUSALS:
                self.wrong[f"{method}: {error.code()}: {error.details()}"] += 1

    def _call(self, method: str) -> Any:
        return self._channel.unary_unary(f"/{frames.SERVICE}/{method}")  # pyright: ignore[reportUnknownVariableType]

    def _noise(self) -> None:
        """Random bytes in place of a message."""
        self._send(self._source.choice(METHODS), self._bytes())

    def _damage(self) -> None:
        """A message of which some bytes were changed, or the end is missing."""
        request = bytearray(self._request().SerializeToString())
        for _ in range(self._source.randrange(8)):
            request[self._source.randrange(len(request))] = self._source.randrange(256)
        self._send(
            self._source.choice(METHODS), bytes(request[: self._source.randrange(1, 2 * len(request))])
        )

    def _bodies(self) -> None:
        """Bodies that are no JSON, or in which nothing is what it should be."""
        body = self._source.choice([self._bytes, self._deep, self._text])()
        request = ProviderRequest(format=self._source.choice(FORMATS), model=prompts.MODEL, body=body)
        message = EstimateConversationRequest(base=self._source.randbytes(64), provider_request=request)
        self._send("CountMessages", CountMessagesRequest(provider_request=request).SerializeToString())
        self._send("EstimateConversation", message.SerializeToString())

    def _leave(self) -> None:
        """A call whose caller leaves."""
        call = self._call("CountMessages").future(self._request().SerializeToString(), timeout=TIMEOUT)
        call.cancel()

    def _hurry(self) -> None:
        """A call with too little time."""
        with contextlib.suppress(grpc.RpcError):
            self._call("CountMessages")(self._request(20_000).SerializeToString(), timeout=0.001)

    def _strange_frames(self) -> None:
        """Random frames on a connection that began well."""
        with contextlib.suppress(OSError), Connection(self._server.address) as connection:
            for _ in range(20):
                kind, flags = self._source.randrange(12), self._source.randrange(256)
                payload = self._source.randbytes(self._source.randrange(64))
                connection.send(frames.frame(kind, flags, self._source.randrange(8), payload))

    def _no_http(self) -> None:
        """A connection that speaks something else."""
        host, _, port = self._server.address.rpartition(":")
        with contextlib.suppress(OSError), socket.create_connection((host, int(port)), TIMEOUT) as connection:
            connection.sendall(self._bytes())

    def _request(self, size: int = 300) -> CountMessagesRequest:
        turns = prompts.messages(3, size, self._source.randrange(1 << 30))
        return CountMessagesRequest(typed=prompts.typed(turns))

    def _bytes(self) -> bytes:
        return os.urandom(self._source.randrange(1, LARGEST))

    def _deep(self) -> bytes:
        return self._source.choice([b"[", b'{"messages":[', b'{"a":']) * self._source.randrange(5000)

    def _text(self) -> bytes:
        """A body in the right shape, with text of random bytes: of any script, and of none."""
        text = self._bytes().decode("utf-8", "replace").replace('"', "").replace("\\", "")
        return f'{{"messages": [{{"role": "user", "content": "{text}"}}]}}'.encode()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        self._thread.join()
        self._channel.close()
