"""What the handlers add to the engine: a panic ends one call and not the server, a deadline arrives.

The engine here is a stand-in, since the real one is not to have such defects.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import grpc.aio
from support import PATIENCE, error_of, method

from tokencountd import handlers
from tokencountd.handlers import INLINE_BYTES, Admission


class Panic(BaseException):
    """What the extension module raises for a panic: not an `Exception`."""


class Engine:
    """Notes the timeouts, and panics at "panic"."""

    def __init__(self) -> None:
        self.timeouts: list[float | None] = []

    def count_messages(self, request: bytes, tenant: str = "", timeout: float | None = None) -> bytes:
        self.timeouts.append(timeout)
        if request.startswith(b"panic"):
            raise Panic("text of a prompt")
        return b"fine"

    estimate_conversation = record_actual = count_messages


def call(address: str) -> None:
    """Panics, and calls with and without a deadline, on the loop and on a thread."""
    with grpc.insecure_channel(address) as channel:
        for name in ("CountMessages", "EstimateConversation", "RecordActual"):
            ask = method(channel, name)
            for size in (0, INLINE_BYTES):
                error, details = error_of(lambda: ask(b"panic" + bytes(size), timeout=PATIENCE))  # noqa: B023
                assert error.code() == grpc.StatusCode.INTERNAL
                assert "text of a prompt" not in str(error)
                assert details[0].reason == "INTERNAL"
                assert ask(bytes(size)) == b"fine"


def check(engine: Engine, admission: Admission) -> None:
    assert admission.active == 0
    given, none = engine.timeouts[::2], engine.timeouts[1::2]
    assert none == [None] * 6
    assert all(timeout and 0 < timeout <= PATIENCE + 1 for timeout in given)


def test_asynchronous() -> None:
    engine: Any = Engine()
    admission = Admission(10, 1 << 20)

    async def run() -> None:
        server = grpc.aio.server()
        with ThreadPoolExecutor(1) as threads:
            handlers.register(server, handlers.asynchronous(engine, admission, threads))
            port = server.add_insecure_port("127.0.0.1:0")
            await server.start()
            await asyncio.to_thread(call, f"127.0.0.1:{port}")
            await server.stop(None)

    asyncio.run(run())
    check(engine, admission)


def test_synchronous() -> None:
    engine: Any = Engine()
    admission = Admission(10, 1 << 20)
    server = grpc.server(ThreadPoolExecutor(1))
    handlers.register(server, handlers.synchronous(engine, admission))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    call(f"127.0.0.1:{port}")
    server.stop(None)
    check(engine, admission)
