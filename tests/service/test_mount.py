"""The service on grpcio servers that someone else runs."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc
import grpc.aio
import pytest
from support import PATIENCE, error_of, words

from tokencount.v1 import prompt_pb2 as pb
from tokencount.v1 import token_counter_service_pb2 as wire
from tokencount.v1 import usage_pb2
from tokencount.v1.token_counter_service_pb2_grpc import TokenCounterServiceStub
from tokencountd import Engine, add_token_counter_to_server


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine() as engine:
        yield engine


def prompt(text: str) -> pb.Prompt:
    return pb.Prompt(model="gpt-4o", messages=[pb.Message(role=pb.ROLE_USER, parts=[pb.Part(text=text)])])


def check(address: str) -> None:
    """The three operations, a large prompt, and an error with its details."""
    with grpc.insecure_channel(address) as channel:
        stub = TokenCounterServiceStub(channel)
        count = stub.CountMessages(wire.CountMessagesRequest(typed=prompt("hello")), timeout=PATIENCE)
        large = wire.CountMessagesRequest(typed=prompt(words(20_000)))
        assert stub.CountMessages(large).count.tokens > 20_000
        first = stub.EstimateConversation(wire.EstimateConversationRequest(typed=prompt("hello")))
        assert first.count.tokens == count.count.tokens
        bill = usage_pb2.Usage(input_tokens=first.count.tokens + 3)
        record = wire.RecordActualRequest(
            base=first.count.prefix_key, status=usage_pb2.STATUS_SUCCEEDED, usage=bill
        )
        assert stub.RecordActual(record).learned
        second = stub.EstimateConversation(wire.EstimateConversationRequest(typed=prompt("hello")))
        assert (second.count.tokens, second.count.source) == (bill.input_tokens, wire.SOURCE_EXACT)
        error, details = error_of(lambda: stub.CountMessages(wire.CountMessagesRequest()))
        assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
        assert details[0].reason == "MISSING_FIELD"


def test_a_synchronous_server(engine: Engine) -> None:
    server = grpc.server(ThreadPoolExecutor(2))
    add_token_counter_to_server(server, engine)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    check(f"127.0.0.1:{port}")
    server.stop(None)


def test_an_asynchronous_server(engine: Engine) -> None:
    async def run() -> None:
        server = grpc.aio.server()
        add_token_counter_to_server(server, engine)
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        await asyncio.to_thread(check, f"127.0.0.1:{port}")
        await server.stop(None)

    asyncio.run(run())
