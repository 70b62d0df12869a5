"""The two transports give the same bytes: answers, and the statuses of what is refused."""

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message
from support import PATIENCE, Daemon, method, words
from test_statuses import RIGHT, WRONG

from tokencount.v1 import prompt_pb2 as pb
from tokencount.v1 import token_counter_service_pb2 as wire
from tokencount.v1 import usage_pb2

TOOL: dict[str, Any] = {
    "name": "find",
    "description": "Finds.",
    "parameters": {"type": "object", "properties": {}},
}
BODIES: list[tuple[str, "pb.Format.ValueType", str, Any]] = [
    (
        "openai_chat",
        pb.FORMAT_OPENAI_CHAT,
        "",
        {
            "model": "gpt-4o",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}],
            "tools": [{"type": "function", "function": TOOL}],
        },
    ),
    ("openai_responses", pb.FORMAT_OPENAI_RESPONSES, "", {"model": "gpt-5", "input": "Hello"}),
    (
        "anthropic",
        pb.FORMAT_ANTHROPIC,
        "",
        {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]},
    ),
    (
        "gemini",
        pb.FORMAT_GEMINI,
        "gemini-2.5-flash",
        {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]},
    ),
    (
        "bedrock",
        pb.FORMAT_BEDROCK_CONVERSE,
        "anthropic.claude-sonnet-4-5",
        {"messages": [{"role": "user", "content": [{"text": "Hello"}]}]},
    ),
]


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[grpc.Channel, grpc.Channel]]:
    """A daemon of each transport; their digests have one secret."""
    secret = tmp_path_factory.mktemp("secret") / "secret"
    secret.write_text("the same for both")
    flags = ("--secret-file", str(secret), "--transport")
    native, grpcio = (Daemon(tmp_path_factory.mktemp(name), *flags, name) for name in ("native", "grpcio"))
    with native.channel() as one, grpcio.channel() as other:
        yield one, other
    assert (native.stop(), grpcio.stop()) == (0, 0)


def outcome(channel: grpc.Channel, name: str, request: bytes) -> object:
    """The answer's bytes, or all of the status."""
    try:
        return method(channel, name)(request, timeout=PATIENCE)
    except grpc.RpcError as error:
        failed: Any = error
        details = dict(failed.trailing_metadata()).get("grpc-status-details-bin")
        return failed.code(), failed.details(), details


def same(twins: tuple[grpc.Channel, grpc.Channel], name: str, request: Message | bytes) -> Any:
    data = request if isinstance(request, bytes) else request.SerializeToString()
    one, other = (outcome(channel, name, data) for channel in twins)
    assert one == other
    return one


# Of what is too large the native transport reads no more than the announced size, so its sentence is
# another; `test_statuses` has that row for both.
REFUSED = [row for row in WRONG if row.reason != "TOO_LARGE"]


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row.name)
def test_refusals(twins: tuple[grpc.Channel, grpc.Channel], row: Any) -> None:
    assert isinstance(same(twins, row.method, row.request), tuple)


@pytest.mark.parametrize("row", RIGHT, ids=lambda row: row.name)
def test_odd_prompts(twins: tuple[grpc.Channel, grpc.Channel], row: Any) -> None:
    assert isinstance(same(twins, "CountMessages", row.request), bytes)


@pytest.mark.parametrize("case", BODIES, ids=lambda case: case[0])
def test_turns_of_every_format(twins: tuple[grpc.Channel, grpc.Channel], case: Any) -> None:
    """A prompt counted, estimated, recorded, and estimated again from the record."""
    _, format, model, body = case
    given = {
        "provider_request": pb.ProviderRequest(format=format, model=model, body=json.dumps(body).encode())
    }
    turn(twins, given)


def test_turns_of_the_typed_form(twins: tuple[grpc.Channel, grpc.Channel]) -> None:
    message = pb.Message(role=pb.ROLE_USER, parts=[pb.Part(text=words(300))])
    turn(twins, {"typed": pb.Prompt(model="gpt-4o", messages=[message])})


def turn(twins: tuple[grpc.Channel, grpc.Channel], given: dict[str, Any]) -> None:
    counted = same(twins, "CountMessages", wire.CountMessagesRequest(per_message=True, **given))
    assert wire.CountMessagesResponse.FromString(counted).count.tokens > 0
    ask = wire.EstimateConversationRequest(**given)
    key = wire.EstimateConversationResponse.FromString(
        same(twins, "EstimateConversation", ask)
    ).count.prefix_key
    record = wire.RecordActualRequest(
        base=key, status=usage_pb2.STATUS_SUCCEEDED, usage=usage_pb2.Usage(input_tokens=1234)
    )
    same(twins, "RecordActual", record)
    again = wire.EstimateConversationResponse.FromString(same(twins, "EstimateConversation", ask)).count
    assert (again.tokens, again.source) == (1234, wire.SOURCE_EXACT)
    streamed = wire.CountMessagesStreamRequest(id="a", count_messages=wire.CountMessagesRequest(**given))
    one, other = (list(stream(channel, [streamed])) for channel in twins)
    assert one == other
    assert len(one) == 1


def stream(channel: grpc.Channel, requests: list[wire.CountMessagesStreamRequest]) -> Iterator[bytes]:
    any_channel: Any = channel
    call = any_channel.stream_stream("/tokencount.v1.TokenCounterService/CountMessagesStream")
    return call(iter([request.SerializeToString() for request in requests]), timeout=PATIENCE)
