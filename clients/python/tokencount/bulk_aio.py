"""`AsyncClient.count_many`: tasks around a `Backlog`.

The caller's prompts are taken by a task of their own, since more than one stream may need them:
gRPC takes what it sends by a task for each stream.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable

from grpc import aio

from tokencount.bulk import AWAY, STREAM_SECONDS, Backlog, Counted, Patience, is_too_large
from tokencount.errors import TokenCountError, from_rpc
from tokencount.requests import PromptOfSet
from tokencount.v1 import Count, CountMessagesRequest
from tokencount.v1 import CountMessagesStreamRequest as Request
from tokencount.v1 import CountMessagesStreamResponse as Response

Prompts = Iterable[PromptOfSet] | AsyncIterable[PromptOfSet]
Call = aio.StreamStreamCall[Request, Response]


async def count_many(
    open: Callable[[AsyncIterator[Request]], Call],
    ask: Callable[[CountMessagesRequest], Awaitable[Count]],
    prompts: Prompts,
    make: Callable[[PromptOfSet], Request],
    seconds: float,
) -> AsyncGenerator[Counted]:
    """Give the answer of every prompt in order; see `bulk_sync.count_many`."""
    feed = _Feed(prompts, make)
    patience = Patience(seconds)
    call: Call | None = None
    try:
        while await feed.has_work():
            first, failure = feed.backlog.first, None
            call = open(feed.stream())
            try:
                async for response in call:
                    yield feed.answer(response)
            except aio.AioRpcError as error:
                failure = from_rpc(error)
            # Where a server ends a stream amid a write, grpc.aio only says INTERNAL.
            if failure and failure.code is not AWAY:
                try:
                    yield await feed.alone(ask)
                    failure = None
                except TokenCountError as error:
                    failure = error
            await asyncio.sleep(patience.pause(failure, answered=feed.backlog.first > first))
    finally:
        feed.close()
        if call:
            call.cancel()


class _Feed:
    """The backlog of a data set, which a task fills and streams are fed from."""

    def __init__(self, prompts: Prompts, make: Callable[[PromptOfSet], Request]) -> None:
        self.backlog = Backlog()
        self._changed = asyncio.Event()
        self._make = make
        self._filling = asyncio.create_task(self._fill(prompts))
        # Looked at, so that asyncio doesn't warn of a failure that nobody stayed to hear of.
        self._filling.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def has_work(self) -> bool:
        """Wait for a request without an answer. False: there won't be any.

        Raises:
            BaseException: what the caller's iterator raised, after all before it was answered.

        """
        await self._until(lambda: self.backlog.ended or not self.backlog.empty)
        if not self.backlog.empty:
            return True
        await self._filling
        return False

    async def stream(self) -> AsyncIterator[Request]:
        """Give the requests of one stream, from the oldest on."""
        number, end = self.backlog.first, asyncio.get_running_loop().time() + STREAM_SECONDS
        while (request := await self._wait_for(number, end)) is not None:
            yield request
            number += 1

    def answer(self, response: Response) -> Counted:
        self._changed.set()
        return self.backlog.answer(response)

    async def alone(self, ask: Callable[[CountMessagesRequest], Awaitable[Count]]) -> Counted:
        """Count the oldest by a call of its own: if it is what made a stream fail, its call says so.

        Raises:
            TokenCountError: it is not to blame, and can't be counted now.

        """
        try:
            result = await ask(self.backlog.oldest)
        except TokenCountError as error:
            if not is_too_large(error):
                raise
            result = error
        self._changed.set()
        return self.backlog.settle(result)

    def close(self) -> None:
        """Let go of everything."""
        self._filling.cancel()
        self._changed.set()
        self.backlog.close()

    async def _wait_for(self, number: int, end: float) -> Request | None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(end):
                await self._until(lambda: self.backlog.ended or self.backlog.has(number))
        in_time = asyncio.get_running_loop().time() < end
        return self.backlog.get(number) if in_time else None

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._changed.clear()
            await self._changed.wait()

    async def _fill(self, prompts: Prompts) -> None:
        try:
            if isinstance(prompts, AsyncIterable):
                async for prompt in prompts:
                    await self._add(prompt)
            else:
                for prompt in prompts:
                    await self._add(prompt)
        finally:
            self.backlog.ended = True
            self._changed.set()

    async def _add(self, prompt: PromptOfSet) -> None:
        self.backlog.add(self._make(prompt))
        self._changed.set()
        await self._until(lambda: not self.backlog.full)
