"""The client for asyncio programs: as `client`, with coroutines."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from functools import partial
from typing import Self, TypeVar

import grpc
from google.protobuf.message import Message
from grpc import aio

from tokencount import bulk_aio, requests
from tokencount.bulk import Counted
from tokencount.channel import OPTIONS, Connection
from tokencount.errors import TokenCountError, from_rpc
from tokencount.requests import FormatName, Object, PromptLike, ReplyLike, UsageLike
from tokencount.transcript import Transcript
from tokencount.v1 import Count, CountMessagesRequest, CountMessagesStreamRequest, RecordActualResponse
from tokencount.v1.token_counter_service_pb2_grpc import TokenCounterServiceStub

_Request = TypeVar("_Request", bound=Message)
_Response = TypeVar("_Response", bound=Message)


class AsyncClient(Connection):
    """Calls a token counter. Close it, or use it in an `async with` statement.

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
            self._channel = aio.insecure_channel(target, OPTIONS, compression)
        else:
            self._channel = aio.secure_channel(target, credentials, OPTIONS, compression)
        self._stub = TokenCounterServiceStub(self._channel)

    async def count(
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
            return (await self._call(self._stub.CountMessages, request, timeout)).count
        except TokenCountError as error:
            return self.local_count(error, message)

    def count_many(
        self,
        prompts: bulk_aio.Prompts,
        format: FormatName | None = None,
        model: str = "",
        *,
        per_message: bool = False,
        timeout: float | None = None,
    ) -> AsyncGenerator[Counted]:
        """Count a data set: give one `Counted` for each prompt, in order.

        As `Client.count_many`; `prompts` may be an async iterable, and another task iterates it.
        To leave early, close the generator (`aclose`, or `contextlib.aclosing`).
        """
        make = partial(requests.count_of_set, format=format, model=model, per_message=per_message)
        seconds = self._timeout if timeout is None else timeout
        return bulk_aio.count_many(self._stream, self._alone, prompts, make, seconds)

    async def estimate(
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
            return (await self._call(self._stub.EstimateConversation, request, timeout)).count
        except TokenCountError as error:
            if base:
                raise
            return self.local_count(error, message)

    async def record(
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
        return await self._call(self._stub.RecordActual, request, timeout)

    def conversation(self, body: Object, format: FormatName, model: str = "") -> "AsyncConversation":
        """Start a conversation from a provider's request body, whose messages may be empty."""
        return AsyncConversation(self, Transcript(body, format, model))

    async def close(self) -> None:
        """Close the channel; calls in flight are cancelled."""
        await self._channel.close()

    async def __aenter__(self) -> Self:
        """Give the client itself."""
        return self

    async def __aexit__(self, *exception: object) -> None:
        """Close the channel."""
        await self.close()

    def _stream(self, requests: AsyncIterator[CountMessagesStreamRequest]) -> bulk_aio.Call:
        return self._stub.CountMessagesStream(requests, metadata=self._metadata)

    async def _alone(self, request: CountMessagesRequest) -> Count:
        return (await self._call(self._stub.CountMessages, request, None)).count

    async def _call(
        self,
        method: "aio.UnaryUnaryMultiCallable[_Request, _Response]",
        request: _Request,
        timeout: float | None,
    ) -> _Response:
        seconds = self._timeout if timeout is None else timeout
        try:
            return await method(request, timeout=seconds, metadata=self._metadata)
        except aio.AioRpcError as error:
            raise from_rpc(error) from error


class AsyncConversation:
    """A conversation that sends only what is new.

    It holds the whole body, and sends it again by itself when the server no longer knows the prefix
    or when anything but the messages was changed. One task at a time may use it.
    """

    def __init__(self, client: AsyncClient, transcript: Transcript) -> None:
        """Use `AsyncClient.conversation` instead."""
        self._client = client
        self._transcript = transcript

    @property
    def body(self) -> dict[str, object]:
        """The body to send to the provider. Its fields may be changed; messages only be added."""
        return self._transcript.body

    def add(self, messages: Object | Sequence[Object]) -> None:
        """Append one message or several, in the provider's shape."""
        self._transcript.add(messages)

    async def estimate(self, *, per_message: bool = False, timeout: float | None = None) -> Count:
        """Count the next turn; see `AsyncClient.estimate`. Per message: of those that were sent."""
        prompt, base = self._transcript.request()
        try:
            count = await self._client.estimate(prompt, base=base, per_message=per_message, timeout=timeout)
        except TokenCountError as error:
            if not error.prefix_unknown:
                return self._client.local_count(error, self._transcript.whole())
            self._transcript.forget()
            return await self.estimate(per_message=per_message, timeout=timeout)
        self._transcript.know(count.prefix_key)
        return count

    async def record(
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
            answer = await self._client.record(
                prompt, base=base, usage=usage, reply=reply, failed=failed, timeout=timeout
            )
        except TokenCountError as error:
            if not error.prefix_unknown:
                raise
            self._transcript.forget()
            return await self.record(usage, reply, failed=failed, timeout=timeout)
        self._transcript.add(reply or [])
        self._transcript.know(answer.prefix_key)
        return answer
