"""A panic ends one call and not the server; what a caller leaves behind stops.

Of each transport, the grpcio one on both kinds of server.
"""

import asyncio
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import grpc.aio
import pytest
from conftest import Start
from support import PATIENCE, error_of, scrape, until

from tokencount.v1 import prompt_pb2 as pb
from tokencount.v1 import token_counter_service_pb2 as wire
from tokencount.v1.token_counter_service_pb2_grpc import TokenCounterServiceStub
from tokencountd import Engine, _core, handlers

PANIC = 1 << 10
"""A request of at least this size, and below the double of it, panics; so does one 100 times as large,
which is answered on another thread."""


def fails(_method: str, size: int) -> None:
    if PANIC <= size % (99 * PANIC) < 2 * PANIC:
        raise ValueError("text of a prompt")


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine() as engine:
        engine.core.set_hook(fails)
        yield engine


def request(size: int) -> wire.CountMessagesRequest:
    message = pb.Message(role=pb.ROLE_USER, parts=[pb.Part(text=" hello" * (size // 6))])
    return wire.CountMessagesRequest(typed=pb.Prompt(model="gpt-4o", messages=[message]))


def check(address: str) -> None:
    """Calls that panic among calls that don't, on the receiving thread and on another."""
    with grpc.insecure_channel(address) as channel:
        stub = TokenCounterServiceStub(channel)
        for size in (PANIC + 100, 100 * PANIC):
            error, details = error_of(lambda: stub.CountMessages(request(size), timeout=PATIENCE))  # noqa: B023
            assert error.code() == grpc.StatusCode.INTERNAL
            assert "text of a prompt" not in str(error)
            assert details[0].reason == "INTERNAL"
            assert stub.CountMessages(request(10), timeout=PATIENCE).count.tokens


def test_a_panic_on_the_native_transport(engine: Engine) -> None:
    service = _core.Service(engine.core)
    server = _core.Server(
        service,
        "127.0.0.1:0",
        threads=1,
        max_connections=10,
        connection_age=60,
        keepalive=60,
        receive_timeout=60,
        grace_period=PATIENCE,
        drain_delay=0,
    )
    check(f"127.0.0.1:{server.port}")
    assert server.drain() == 0


def test_a_panic_on_an_asynchronous_server(engine: Engine) -> None:
    async def run() -> None:
        server = grpc.aio.server()
        with ThreadPoolExecutor(1) as threads:
            handlers.register(server, handlers.asynchronous(_core.Service(engine.core), threads))
            port = server.add_insecure_port("127.0.0.1:0")
            await server.start()
            await asyncio.to_thread(check, f"127.0.0.1:{port}")
            await server.stop(None)

    asyncio.run(run())


def test_a_panic_on_a_synchronous_server(engine: Engine) -> None:
    server = grpc.server(ThreadPoolExecutor(1))
    handlers.register(server, handlers.synchronous(_core.Service(engine.core)))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    check(f"127.0.0.1:{port}")
    server.stop(None)


def slow() -> wire.CountMessagesRequest:
    """A prompt that takes seconds to count: letters without an order, in no vocabulary."""
    text = os.urandom(7 << 20).hex().translate(str.maketrans("0123456789", "ghijklmnop"))
    message = pb.Message(role=pb.ROLE_USER, parts=[pb.Part(text=text)])
    return wire.CountMessagesRequest(typed=pb.Prompt(model="gpt-4o", messages=[message]))


def statuses(page: str) -> set[str]:
    return {
        name.split('rpc_response_status_code="')[1].split('"')[0]
        for name in scrape(page)
        if name.startswith("rpc_server_call_duration_seconds_count")
    }


def test_a_count_whose_caller_leaves_stops(start: Start) -> None:
    daemon = start("--prometheus-listen", "127.0.0.1:0")
    page = daemon.event("metrics page")["address"]
    with daemon.channel() as channel:
        call = TokenCounterServiceStub(channel).CountMessages.future(slow())
        until(lambda: scrape(page)["tokencount_server_active_calls"] == 1)
        call.cancel()
        until(lambda: scrape(page)["tokencount_server_active_calls"] == 0)
    assert statuses(page) == {"CANCELLED"}


@pytest.mark.parametrize("transport", ["native", "grpcio"])
def test_a_count_stops_at_its_deadline(start: Start, transport: str, tmp_path: Path) -> None:
    daemon = start("--prometheus-listen", "127.0.0.1:0", "--transport", transport)
    page = daemon.event("metrics page")["address"]
    with daemon.channel() as channel:
        stub = TokenCounterServiceStub(channel)
        error, _ = error_of(lambda: stub.CountMessages(slow(), timeout=0.5))
        assert error.code() == grpc.StatusCode.DEADLINE_EXCEEDED
        until(lambda: scrape(page)["tokencount_server_active_calls"] == 0)
    assert statuses(page) <= {"CANCELLED", "DEADLINE_EXCEEDED"}
