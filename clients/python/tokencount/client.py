"""The client for programs with threads."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from functools import partial
from typing import Self, TypeVar

import grpc
from google.protobuf.message import Message

from tokencount import bulk_sync, requests
from tokencount.bulk import Counted
from tokencount.channel import OPTIONS, Connection
from tokencount.errors import TokenCountError, from_rpc
from tokencount.requests import FormatName, Object, PromptLike, PromptOfSet, ReplyLike, UsageLike
from tokencount.transcript import Transcript
from tokencount.v1 import Count, CountMessagesRequest, CountMessagesStreamRequest, RecordActualResponse
from tokencount.v1.token_counter_service_pb2_grpc import TokenCounterServiceStub

_Request = TypeVar("_Request", bound=Message)
_Response = TypeVar("_Response", bound=Message)


class Client(Connection):
    """Calls a token counter. Threads may share it. Close it, or use it in a `with` statement.

    In all calls `prompt` is the provider's request body (a mapping, or JSON in UTF-8) with its
    `format`, and with its `model` where the body names none; or a `Prompt` or `ProviderRequest`.
    `timeout` is in seconds and replaces the client's. Every call raises `TokenCountError`.
    """

    def _connect(
        self,
        target: str,
        credentials: grpc.ChannelCredentials | None,
        compression: grpc.Compression | None,
    ) -> None:
        if credentials is None:
            self._channel = grpc.insecure_channel(target, OPTIONS, compression)
        else:
            self._channel = grpc.secure_channel(target, credentials, OPTIONS, compression)
        self._stub = TokenCounterServiceStub(self._channel)

    def count(
        self,
        prompt: PromptLike,
        format: FormatName | None = None,
        model: str = "",
        *,
        per_message: bool = False,
        timeout: float | None = None,
    ) -> Count:
        """Count a prompt as it stands; `per_message` adds the count of every message."""
        message = requests.prompt_message(prompt, format, model)
        request = requests.count(message, per_message)
        try:
            return self._call(self._stub.CountMessages, request, timeout).count
        except TokenCountError as error:
            return self.local_count(error, message)

    def count_many(
        self,
        prompts: Iterable[PromptOfSet],
        format: FormatName | None = None,
        model: str = "",
        *,
        per_message: bool = False,
        timeout: float | None = None,
    ) -> Generator[Counted]:
        """Count a data set: give one `Counted` for each prompt, in order.

        A prompt may come as a pair with an id of the caller's. `format`, `model` and `per_message`
        are those of `count`, and hold for all prompts.

        What is wrong with one prompt is its `Counted.error`. This raises `TokenCountError` only for
        what ends the whole: the server knows no such caller, or it went away and `timeout` seconds
        of trying brought no answer. An error of `prompts` is raised after the answers before it. The
        `fallback` doesn't apply.

        `prompts` is iterated by another thread, at most 256 prompts or 16 MiB ahead of the answers,
        so neither has to fit in memory. To leave early, close the generator.
        """
        make = partial(requests.count_of_set, format=format, model=model, per_message=per_message)
        seconds = self._timeout if timeout is None else timeout
        return bulk_sync.count_many(self._stream, self._alone, map(make, prompts), seconds)

    def estimate(
        self,
        prompt: PromptLike,
        format: FormatName | None = None,
        model: str = "",
        *,
        base: bytes = b"",
        per_message: bool = False,
        timeout: float | None = None,
    ) -> Count:
        """Count what is new since the longest prefix whose bill is known.

        With `base`, the `prefix_key` of an earlier answer, `prompt` holds only what came after it.
        """
        message = requests.prompt_message(prompt, format, model)
        request = requests.estimate(message, base, per_message)
        try:
            return self._call(self._stub.EstimateConversation, request, timeout).count
        except TokenCountError as error:
            if base:
                raise
            return self.local_count(error, message)

    def record(
        self,
        prompt: PromptLike | None = None,
        format: FormatName | None = None,
        model: str = "",
        *,
        usage: UsageLike | None = None,
        reply: ReplyLike | None = None,
        base: bytes = b"",
        failed: bool = False,
        timeout: float | None = None,
    ) -> RecordActualResponse:
        """Report what the provider billed for a prompt, so that the next turn starts from it.

        `usage` is its usage object or its whole response, required unless the call `failed`; with
        the `reply`, the next turn starts from input and output together. With `base`, `prompt`
        holds only what came after it, or is absent if that was nothing.
        """
        message = None if prompt is None else requests.prompt_message(prompt, format, model)
        request = requests.record(message, base, usage, reply, failed)
        return self._call(self._stub.RecordActual, request, timeout)

    def conversation(self, body: Object, format: FormatName, model: str = "") -> "Conversation":
        """Start a conversation from a provider's request body, whose messages may be empty."""
        return Conversation(self, Transcript(body, format, model))

    def close(self) -> None:
        """Close the channel; calls in flight are cancelled."""
        self._channel.close()

    def __enter__(self) -> Self:
        """Give the client itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the channel."""
        self.close()

    def _stream(self, requests: Iterator[CountMessagesStreamRequest]) -> bulk_sync.Call:
        return self._stub.CountMessagesStream(requests, metadata=self._metadata)

    def _alone(self, request: CountMessagesRequest) -> Count:
        return self._call(self._stub.CountMessages, request, None).count

    def _call(
        self,
        method: "grpc.UnaryUnaryMultiCallable[_Request, _Response]",
        request: _Request,
        timeout: float | None,
    ) -> _Response:
        seconds = self._timeout if timeout is None else timeout
        try:
            return method(request, timeout=seconds, metadata=self._metadata)
        except grpc.RpcError as error:
            raise from_rpc(error) from error


class Conversation:
    """A conversation that sends only what is new.

    It holds the whole body, and sends it again by itself when the server no longer knows the prefix
    or when anything but the messages was changed. One thread at a time may use it.
    """

    def __init__(self, client: Client, transcript: Transcript) -> None:
        """Use `Client.conversation` instead."""
        self._client = client
        self._transcript = transcript

    @property
    def body(self) -> dict[str, object]:
        """The body to send to the provider. Its fields may be changed; messages only be added."""
        return self._transcript.body

    def add(self, messages: Object | Sequence[Object]) -> None:
        """Append one message or several, in the provider's shape."""
        self._transcript.add(messages)

    def estimate(self, *, per_message: bool = False, timeout: float | None = None) -> Count:
        """Count the next turn; see `Client.estimate`. Per message: of those that were sent."""
        prompt, base = self._transcript.request()
        try:
            count = self._client.estimate(prompt, base=base, per_message=per_message, timeout=timeout)
        except TokenCountError as error:
            if not error.prefix_unknown:
                return self._client.local_count(error, self._transcript.whole())
            self._transcript.forget()
            return self.estimate(per_message=per_message, timeout=timeout)
        self._transcript.know(count.prefix_key)
        return count

    def record(
        self,
        usage: UsageLike | None = None,
        reply: Object | Sequence[Object] | None = None,
        *,
        failed: bool = False,
        timeout: float | None = None,
    ) -> RecordActualResponse:
        """Report the bill of the body as it stands, then append the reply.

        `reply` is the message (or list of items) as the next request will hold it. If this raises,
        nothing was appended.
        """
        prompt, base = self._transcript.request()
        try:
            answer = self._client.record(
                prompt, base=base, usage=usage, reply=reply, failed=failed, timeout=timeout
            )
        except TokenCountError as error:
            if not error.prefix_unknown:
                raise
            self._transcript.forget()
            return self.record(usage, reply, failed=failed, timeout=timeout)
        self._transcript.add(reply or [])
        self._transcript.know(answer.prefix_key)
        return answer
