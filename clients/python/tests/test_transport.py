"""What goes between client and server: credentials, the token, compression, retries, deadlines."""

import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import grpc
import pytest
import trustme

from tests.conftest import Connect
from tokencount import TokenCountError
from tokencount.v1 import Count, CountMessagesRequest, CountMessagesResponse
from tokencount.v1.token_counter_service_pb2_grpc import (
    TokenCounterServiceServicer,
    add_TokenCounterServiceServicer_to_server,
)

BODY = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi " * 500}]}
Headers = dict[str, str | bytes]


class Difficult(TokenCounterServiceServicer):
    """A server that does what a healthy one can't be made to do."""

    def __init__(self, answer: Callable[[int, Headers, grpc.ServicerContext], int]) -> None:
        self._answer = answer
        self.calls = 0

    def CountMessages(  # type: ignore[override]  # noqa: N802 (the contract's name)
        self, request: CountMessagesRequest, context: grpc.ServicerContext
    ) -> CountMessagesResponse:
        self.calls += 1
        headers = {item[0]: item[1] for item in context.invocation_metadata()}
        return CountMessagesResponse(count=Count(tokens=self._answer(self.calls, headers, context)))

    CountMessagesStream = EstimateConversation = RecordActual = CountMessages  # type: ignore[assignment]


def one(*_: object) -> int:
    return 1


@contextmanager
def serve(difficult: Difficult, credentials: grpc.ServerCredentials | None = None) -> Generator[str]:
    server = grpc.server(ThreadPoolExecutor(2))
    add_TokenCounterServiceServicer_to_server(difficult, server)
    if credentials is None:
        port = server.add_insecure_port("127.0.0.1:0")
    else:
        port = server.add_secure_port("localhost:0", credentials)
    server.start()
    yield f"localhost:{port}"
    server.stop(None).wait()


def test_mutual_tls_a_token_and_compression(connect: Connect) -> None:
    authority = trustme.CA()
    root = authority.cert_pem.bytes()
    own, other = authority.issue_cert("localhost"), authority.issue_cert("client@example.org")
    difficult = Difficult(lambda _, headers, __: int(headers["authorization"] == "Bearer secret"))
    server_credentials = grpc.ssl_server_credentials(
        [(own.private_key_pem.bytes(), own.cert_chain_pems[0].bytes())], root, True
    )
    credentials = grpc.ssl_channel_credentials(
        root, other.private_key_pem.bytes(), other.cert_chain_pems[0].bytes()
    )
    with (
        serve(difficult, server_credentials) as target,
        connect(target, credentials=credentials, token="secret", compression=grpc.Compression.Gzip) as client,
    ):
        assert client.count(BODY, "openai_chat").tokens == 1


def test_an_unknown_authority_is_refused(connect: Connect) -> None:
    own = trustme.CA().issue_cert("localhost")
    server_credentials = grpc.ssl_server_credentials(
        [(own.private_key_pem.bytes(), own.cert_chain_pems[0].bytes())]
    )
    credentials = grpc.ssl_channel_credentials(trustme.CA().cert_pem.bytes())
    with (
        serve(Difficult(one), server_credentials) as target,
        connect(target, credentials=credentials) as client,
        pytest.raises(TokenCountError, match="UNAVAILABLE"),
    ):
        client.count(BODY, "openai_chat")


def test_a_server_that_is_away_for_a_moment_is_asked_again(connect: Connect) -> None:
    def answer(call: int, _: Headers, context: grpc.ServicerContext) -> int:
        if call < 3:
            context.abort(grpc.StatusCode.UNAVAILABLE, "starting")
        return call

    with serve(Difficult(answer)) as target, connect(target) as client:
        assert client.count(BODY, "openai_chat").tokens == 3


def test_an_answer_is_not_asked_for_again(connect: Connect) -> None:
    difficult = Difficult(lambda _, __, context: context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "busy"))
    with (
        serve(difficult) as target,
        connect(target) as client,
        pytest.raises(TokenCountError) as raised,
    ):
        client.count(BODY, "openai_chat")
    assert (difficult.calls, raised.value.reason, raised.value.message) == (1, "", "busy")


def test_details_that_do_not_parse_are_left_out(connect: Connect) -> None:
    def answer(_: int, __: Headers, context: grpc.ServicerContext) -> int:
        context.set_trailing_metadata((("grpc-status-details-bin", b"\xff\xff"),))
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, "no")

    with (
        serve(Difficult(answer)) as target,
        connect(target) as client,
        pytest.raises(TokenCountError) as raised,
    ):
        client.count(BODY, "openai_chat")
    assert (raised.value.code, raised.value.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "")


def test_a_call_ends_at_its_deadline(connect: Connect) -> None:
    def answer(*_: object) -> int:
        time.sleep(0.5)
        return 1

    with serve(Difficult(answer)) as target, connect(target, timeout=0.1) as client:
        with pytest.raises(TokenCountError, match="DEADLINE_EXCEEDED"):
            client.count(BODY, "openai_chat")
        assert client.count(BODY, "openai_chat", timeout=5).tokens == 1


def test_a_body_needs_a_format(client: object) -> None:
    with pytest.raises(ValueError, match="format is required"):
        client.count(BODY)  # type: ignore[attr-defined]
