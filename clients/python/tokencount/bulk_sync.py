"""`Client.count_many`: threads around a `Backlog`.

The caller's prompts are taken by a thread of their own, since they may come slowly, and more than
one stream may need them: gRPC takes what it sends by a thread for each stream.
"""

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

import grpc

from tokencount.bulk import AWAY, STREAM_SECONDS, Backlog, Counted, Patience, is_too_large
from tokencount.errors import TokenCountError, from_rpc
from tokencount.v1 import Count, CountMessagesRequest
from tokencount.v1 import CountMessagesStreamRequest as Request
from tokencount.v1 import CountMessagesStreamResponse as Response


class Call(Protocol):
    """A stream that is open."""

    def __iter__(self) -> Iterator[Response]:
        """Give the answers; raises `grpc.RpcError` if it breaks."""
        ...

    def cancel(self) -> object:
        """End it."""


def count_many(
    open: Callable[[Iterator[Request]], Call],
    ask: Callable[[CountMessagesRequest], Count],
    requests: Iterable[Request],
    seconds: float,
) -> Generator[Counted]:
    """Give the answer of every request in order.

    `open` opens a stream, `ask` counts one prompt alone; `seconds` is how long a server that gives
    no answers is tried.
    """
    feed = _Feed(requests)
    patience = Patience(seconds)
    call: Call | None = None
    try:
        while feed.has_work():
            first = feed.backlog.first
            call = open(feed.stream())
            failure = yield from _answers(feed, call)
            if failure and failure.code is not AWAY:
                try:
                    yield feed.alone(ask)
                    failure = None
                except TokenCountError as error:
                    failure = error
            time.sleep(patience.pause(failure, answered=feed.backlog.first > first))
    finally:
        feed.close()
        if call:
            call.cancel()


def _answers(feed: "_Feed", call: Call) -> Generator[Counted, None, TokenCountError | None]:
    """Give the answers of a stream, and return why it broke."""
    try:
        for response in call:
            with feed.changing() as backlog:
                counted = backlog.answer(response)
            yield counted
    except grpc.RpcError as error:
        return from_rpc(error)
    return None


class _Feed:
    """The backlog of a data set, which a thread fills and streams are fed from."""

    def __init__(self, requests: Iterable[Request]) -> None:
        self.backlog = Backlog()
        self._changed = threading.Condition()
        self._failure: BaseException | None = None
        # A daemon: where the caller's iterator is stuck, nobody waits for it.
        threading.Thread(target=self._fill, args=(requests,), daemon=True).start()

    def has_work(self) -> bool:
        """Wait for a request without an answer. False: there won't be any.

        Raises:
            BaseException: what the caller's iterator raised, after all before it was answered.

        """
        with self._changed:
            self._changed.wait_for(lambda: self.backlog.ended or not self.backlog.empty)
        if not self.backlog.empty:
            return True
        if self._failure:
            raise self._failure
        return False

    def stream(self) -> Iterator[Request]:
        """Give the requests of one stream, from the oldest on."""
        number, end = self.backlog.first, time.monotonic() + STREAM_SECONDS
        while (request := self._wait_for(number, end)) is not None:
            yield request
            number += 1

    def alone(self, ask: Callable[[CountMessagesRequest], Count]) -> Counted:
        """Count the oldest by a call of its own: if it is what made a stream fail, its call says so.

        Raises:
            TokenCountError: it is not to blame, and can't be counted now.

        """
        try:
            result = ask(self.backlog.oldest)
        except TokenCountError as error:
            if not is_too_large(error):
                raise
            result = error
        with self.changing() as backlog:
            return backlog.settle(result)

    @contextmanager
    def changing(self) -> Generator[Backlog]:
        """Hold the backlog, and let go of it changed."""
        with self._changed:
            yield self.backlog
            self._changed.notify_all()

    def close(self) -> None:
        """Let go of everything."""
        with self.changing() as backlog:
            backlog.close()

    def _wait_for(self, number: int, end: float) -> Request | None:
        with self._changed:
            left = end - time.monotonic()
            self._changed.wait_for(lambda: self.backlog.ended or self.backlog.has(number), left)
            return self.backlog.get(number) if time.monotonic() < end else None

    def _fill(self, requests: Iterable[Request]) -> None:
        try:
            for request in requests:
                with self.changing() as backlog:
                    self._changed.wait_for(lambda: backlog.ended or not backlog.full)
                    if backlog.ended:
                        return
                    backlog.add(request)
        except BaseException as error:  # noqa: BLE001 (raised again where the answers are taken)
            self._failure = error
        finally:
            with self.changing() as backlog:
                backlog.ended = True
