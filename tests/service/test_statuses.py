"""Bad input over the wire: each row gets a right count, or a code, a reason and the field's path.

Never an INTERNAL, a hang or a crash: the rows run against one server, which must still be there
at the end.
"""

import json
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message
from support import PATIENCE, error_of, method

from tokencount.v1 import prompt_pb2 as pb
from tokencount.v1 import token_counter_service_pb2 as wire
from tokencount.v1 import usage_pb2

INVALID = grpc.StatusCode.INVALID_ARGUMENT
PRECONDITION = grpc.StatusCode.FAILED_PRECONDITION
EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED


@dataclass(frozen=True)
class Wrong:
    """A request that is refused."""

    name: str
    request: Message | bytes
    reason: str
    field: str = ""
    code: grpc.StatusCode = INVALID
    method: str = "CountMessages"


@dataclass(frozen=True)
class Right:
    """A request that looks bad and is counted all the same: its tokens are in a range."""

    name: str
    request: Message
    least: int
    most: int


def body(value: Any, format: "pb.Format.ValueType" = pb.FORMAT_OPENAI_CHAT, model: str = "gpt-4o") -> Message:
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return wire.CountMessagesRequest(
        provider_request=pb.ProviderRequest(format=format, model=model, body=text)
    )


def typed(text: str = "hello", **fields: Any) -> pb.Prompt:
    message = pb.Message(role=pb.ROLE_USER, parts=[pb.Part(text=text)])
    given: dict[str, Any] = {"model": "gpt-4o", "messages": [message], **fields}
    return pb.Prompt(**given)


def count(text: str) -> Message:
    return wire.CountMessagesRequest(typed=typed(text))


def record(**fields: Any) -> Message:
    given: dict[str, Any] = {"typed": typed(), "status": usage_pb2.STATUS_SUCCEEDED, **fields}
    return wire.RecordActualRequest(**given)


def bill(**usage: Any) -> Message:
    return wire.RecordActualRequest(
        provider_request=pb.ProviderRequest(
            format=pb.FORMAT_OPENAI_CHAT,
            body=json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}).encode(),
        ),
        status=usage_pb2.STATUS_SUCCEEDED,
        usage_json=json.dumps({"usage": usage}).encode(),
    )


def chat(content: Any) -> Message:
    return body({"model": "gpt-4o", "messages": [{"role": "user", "content": content}]})


COUNT, ESTIMATE, RECORD = "CountMessages", "EstimateConversation", "RecordActual"

WRONG = [
    Wrong("bytes that are no message", b"\xff\xff\xff", "MALFORMED_REQUEST"),
    Wrong("a length beyond the end", b"\x0a\xff\xff\xff\xff\x0f", "MALFORMED_REQUEST"),
    Wrong("text that is no UTF-8", b"\x0a\x04\x0a\x02\xc3\x28", "MALFORMED_REQUEST"),
    Wrong("nothing", b"", "MISSING_FIELD", "prompt"),
    Wrong("no model", wire.CountMessagesRequest(typed=typed(model="")), "MISSING_FIELD", "typed.model"),
    Wrong(
        "no messages", wire.CountMessagesRequest(typed=typed(messages=[])), "MISSING_FIELD", "typed.messages"
    ),
    Wrong(
        "no role",
        wire.CountMessagesRequest(typed=typed(messages=[pb.Message(parts=[pb.Part(text="hi")])])),
        "MISSING_FIELD",
        "typed.messages[0].role",
    ),
    Wrong(
        "an unknown role",
        wire.CountMessagesRequest(typed=typed(messages=[pb.Message(role=99)])),  # pyright: ignore[reportArgumentType]
        "INVALID_FIELD",
        "typed.messages[0].role",
    ),
    Wrong(
        "an empty part",
        wire.CountMessagesRequest(typed=typed(messages=[pb.Message(role=pb.ROLE_USER, parts=[pb.Part()])])),
        "MISSING_FIELD",
        "typed.messages[0].parts[0].content",
    ),
    Wrong("no format", body({}, pb.FORMAT_UNSPECIFIED), "MISSING_FIELD", "provider_request.format"),
    Wrong(
        "an unknown format",
        body({}, 99),  # pyright: ignore[reportArgumentType]
        "INVALID_FIELD",
        "provider_request.format",
    ),
    Wrong("no body", body(b""), "INVALID_JSON", "provider_request.body"),
    Wrong("wrong JSON", body(b"{'a': 1}"), "INVALID_JSON", "provider_request.body"),
    Wrong("JSON that ends", body(b'{"messages": ['), "INVALID_JSON", "provider_request.body"),
    Wrong("JSON with more behind", body(b"{} {}"), "INVALID_JSON", "provider_request.body"),
    Wrong("deep JSON", body(b"[" * 100_000), "INVALID_JSON", "provider_request.body"),
    Wrong("no UTF-8", body(b'{"model": "\xff"}'), "INVALID_JSON", "provider_request.body"),
    Wrong(
        "a lone surrogate",
        body(b'{"messages": ["\\ud800b"]}'),
        "INVALID_JSON",
        "provider_request.body.messages[0]",
    ),
    Wrong("a surrogate elsewhere", body(b'{"a": "\\ud800b"}'), "INVALID_JSON", "provider_request.body.a"),
    Wrong("half a pair, twice", body(b'["\\udc00\\ud83d"]'), "INVALID_JSON", "provider_request.body"),
    Wrong("a list", body([]), "INVALID_FIELD", "provider_request.body"),
    Wrong("an empty conversation", body({"messages": []}), "MISSING_FIELD", "provider_request.body.messages"),
    Wrong(
        "messages of a wrong type", body({"messages": 7}), "INVALID_FIELD", "provider_request.body.messages"
    ),
    Wrong(
        "a message of a wrong type",
        body({"messages": [7]}),
        "INVALID_FIELD",
        "provider_request.body.messages[0]",
    ),
    Wrong("content of a wrong type", chat(7), "INVALID_FIELD", "provider_request.body.messages[0].content"),
    Wrong(
        "Gemini without a model",
        body({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}, pb.FORMAT_GEMINI, ""),
        "MISSING_FIELD",
        "provider_request.model",
    ),
    Wrong(
        "an unknown prefix",
        wire.EstimateConversationRequest(typed=typed(), base=b"0123456789abcdef0123456789abcdef"),
        "PREFIX_UNKNOWN",
        "base",
        PRECONDITION,
        ESTIMATE,
    ),
    Wrong(
        "a prefix of another length",
        wire.EstimateConversationRequest(typed=typed(), base=b"x"),
        "INVALID_FIELD",
        "base",
        method=ESTIMATE,
    ),
    Wrong("no status", record(status=0), "MISSING_FIELD", "status", method=RECORD),
    Wrong("no bill", record(), "INVALID_USAGE", "usage", method=RECORD),
    Wrong(
        "a bill of nothing",
        record(usage=usage_pb2.Usage()),
        "INVALID_USAGE",
        "usage.input_tokens",
        method=RECORD,
    ),
    Wrong(
        "a negative bill",
        bill(prompt_tokens=-1),
        "INVALID_USAGE",
        "usage_json.usage.prompt_tokens",
        method=RECORD,
    ),
    Wrong(
        "an absurd bill",
        bill(prompt_tokens=10**30),
        "INVALID_USAGE",
        "usage_json.usage.prompt_tokens",
        method=RECORD,
    ),
    Wrong(
        "a bill with a fraction",
        bill(prompt_tokens=1.5),
        "INVALID_USAGE",
        "usage_json.usage.prompt_tokens",
        method=RECORD,
    ),
    Wrong(
        "a bill in words",
        bill(prompt_tokens="ten"),
        "INVALID_USAGE",
        "usage_json.usage.prompt_tokens",
        method=RECORD,
    ),
    Wrong("a bill without the number", bill(tokens=1), "INVALID_USAGE", "usage_json.usage", method=RECORD),
    Wrong("a bill that is no JSON", record(usage_json=b"{"), "INVALID_JSON", "usage_json", method=RECORD),
    Wrong("more than the server takes", b"\x00" * (32 << 20 | 1), "TOO_LARGE", "", EXHAUSTED),
]

RIGHT = [
    Right("10 MB of one letter", count("a" * 10_000_000), 1_000_000, 10_000_000),
    Right("10 MB of spaces", count(" " * 10_000_000), 10_000, 10_000_000),
    Right("1 MB of emoji", count("\U0001f600" * 250_000), 250_000, 1_000_000),
    Right("special-token text", count("<|endoftext|><|im_start|>"), 12, 40),
    Right("control characters", count("".join(map(chr, range(32))) + "\x7f"), 10, 80),
    Right("an escaped NUL", chat("a\0b"), 3, 40),
    Right(
        "a number beyond any type",
        body(b'{"messages": [{"role": "user", "content": "a"}], "x": 1e999}'),
        3,
        80,
    ),
    Right("an unknown model", wire.CountMessagesRequest(typed=typed(model="nobody-9")), 1, 100),
    Right("an empty text", count(""), 1, 20),
]


@pytest.mark.parametrize("row", WRONG, ids=lambda row: row.name)
def test_wrong(channel: grpc.Channel, row: Wrong) -> None:
    request = row.request if isinstance(row.request, bytes) else row.request.SerializeToString()
    call = method(channel, row.method)
    error, details = error_of(lambda: call(request, timeout=PATIENCE))
    assert error.code() == row.code, error.details()
    assert (details[0].reason, details[0].domain) == (row.reason, "tokencount.v1"), error.details()
    fields = [violation.field for detail in details[1:] for violation in detail.field_violations]
    assert fields == ([row.field] if row.field else []), error.details()


@pytest.mark.parametrize("row", RIGHT, ids=lambda row: row.name)
def test_right(channel: grpc.Channel, row: Right) -> None:
    call = method(channel, "CountMessages")
    answer = wire.CountMessagesResponse.FromString(
        call(row.request.SerializeToString(), timeout=PATIENCE)
    ).count
    assert row.least <= answer.tokens <= row.most
    assert answer.tokens <= answer.upper_bound


def test_far_above_the_limit(channel: grpc.Channel) -> None:
    call = method(channel, "CountMessages")
    error, _ = error_of(lambda: call(b"\x00" * (65 << 20), timeout=PATIENCE))
    assert error.code() == EXHAUSTED


@pytest.mark.parametrize("compression", [grpc.Compression.Gzip, grpc.Compression.Deflate])
def test_a_bomb_is_refused(channel: grpc.Channel, compression: grpc.Compression) -> None:
    call = method(channel, "CountMessages")
    error, _ = error_of(lambda: call(b"\x00" * (64 << 20), timeout=PATIENCE, compression=compression))
    # What the native transport doesn't know it refuses unread.
    assert error.code() in (EXHAUSTED, grpc.StatusCode.UNIMPLEMENTED)


def test_a_compressed_request(channel: grpc.Channel) -> None:
    request = RIGHT[-1].request.SerializeToString()
    call = method(channel, "CountMessages")
    assert call(request, compression=grpc.Compression.Gzip) == call(request)


def test_an_unknown_method(channel: grpc.Channel) -> None:
    error, _ = error_of(lambda: method(channel, "Other")(b"", timeout=PATIENCE))
    assert error.code() == grpc.StatusCode.UNIMPLEMENTED
