"""Failures that no request can bring about: a defect in the engine ends one call, not the server.

The engine here is a stand-in, since the real one is not to have such defects.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import grpc.aio
import pytest
from support import PATIENCE, SERVICE, error_of

from tokencountd import handlers
from tokencountd.handlers import INLINE_BYTES, Admission


class Panic(BaseException):
    """What the extension module raises for a panic: not an `Exception`."""


class Broken:
    def count_messages(self, request: bytes, tenant: str = "", timeout: float | None = None) -> bytes:
        if request:
            raise Panic("text of a prompt")
        return b"fine"

    estimate_conversation = record_actual = count_messages


REQUESTS = [("CountMessages", b"x"), ("CountMessages", b"x" * (INLINE_BYTES + 1)), ("RecordActual", b"x")]


def check(address: str, method: str, request: bytes) -> None:
    with grpc.insecure_channel(address) as channel:
        call = channel.unary_unary(f"/{SERVICE}/{method}")
        error, details = error_of(lambda: call(request, timeout=PATIENCE))
        assert error.code() == grpc.StatusCode.INTERNAL
        assert "text of a prompt" not in str(error)
        assert details[0].reason == "INTERNAL"
        assert call(b"", timeout=PATIENCE) == b"fine"


@pytest.mark.parametrize(("method", "request_"), REQUESTS)
def test_a_panic_ends_one_call_asynchronous(method: str, request_: bytes) -> None:
    engine: Any = Broken()

    async def run() -> None:
        server = grpc.aio.server()
        admission = Admission(10, 1 << 20)
        with ThreadPoolExecutor(1) as threads:
            handlers.register(server, handlers.asynchronous(engine, admission, threads))
            port = server.add_insecure_port("127.0.0.1:0")
            await server.start()
            await asyncio.to_thread(check, f"127.0.0.1:{port}", method, request_)
            await server.stop(None)
        assert admission.active == 0

    asyncio.run(run())


@pytest.mark.parametrize(("method", "request_"), REQUESTS)
def test_a_panic_ends_one_call_synchronous(method: str, request_: bytes) -> None:
    engine: Any = Broken()
    server = grpc.server(ThreadPoolExecutor(1))
    handlers.register(server, handlers.synchronous(engine, Admission(10, 1 << 20)))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    check(f"127.0.0.1:{port}", method, request_)
    server.stop(None)
