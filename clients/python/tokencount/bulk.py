"""A data set over streams: what both clients share.

A stream takes prompts for some seconds and is then followed by the next one, so that a server that
is being replaced ends all of them in its grace time. After one that breaks all the same, the next
one starts from the first prompt without an answer.
"""

import random
import time
from collections import deque
from dataclasses import dataclass

import grpc

from tokencount.errors import TokenCountError, from_stream
from tokencount.v1 import Count, CountMessagesRequest, CountMessagesStreamRequest, CountMessagesStreamResponse

STREAM_SECONDS = 10.0
"""How long a stream takes prompts."""

# What is sent ahead is sent again when a stream breaks. It is more than a server counts at once, so
# that the network never waits.
_MOST_REQUESTS = 256
_MOST_BYTES = 16 << 20
# Seconds between streams that break.
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0
AWAY = grpc.StatusCode.UNAVAILABLE
"""The code of a stream that breaks without being to blame, as when its server is restarted."""

# The server says so by its reasons; gRPC itself, where its limit comes first, gives none.
_TOO_LARGE = frozenset({"TOO_LARGE", ""})
_LIMITED = frozenset({"OVERLOADED", "QUOTA_EXCEEDED"})


@dataclass(frozen=True)
class Counted:
    """What became of one prompt of a data set."""

    id: str
    """The caller's id; empty if there was none."""
    result: Count | TokenCountError
    """How many tokens the prompt has, or why it was not counted."""

    @property
    def error(self) -> TokenCountError | None:
        """Why the prompt was not counted; None if it was."""
        return self.result if isinstance(self.result, TokenCountError) else None

    @property
    def count(self) -> Count:
        """How many tokens the prompt has. Raises the `error` if there is one."""
        if isinstance(self.result, TokenCountError):
            raise self.result
        return self.result


class Backlog:
    """The requests without an answer, oldest first, numbered from the start of the data set."""

    def __init__(self) -> None:
        self._requests: deque[CountMessagesStreamRequest] = deque()
        self._bytes = 0
        self.first = 0
        """The number of the oldest."""
        self.ended = False
        """Whether there won't be more."""

    @property
    def full(self) -> bool:
        """Whether a further one has to wait."""
        return len(self._requests) >= _MOST_REQUESTS or self._bytes >= _MOST_BYTES

    @property
    def empty(self) -> bool:
        """Whether every request so far has its answer."""
        return not self._requests

    @property
    def oldest(self) -> CountMessagesRequest:
        """The prompt of the oldest request, which must be there."""
        return self._requests[0].count_messages

    def add(self, request: CountMessagesStreamRequest) -> None:
        """Append a request."""
        self._requests.append(request)
        self._bytes += request.ByteSize()

    def has(self, number: int) -> bool:
        """Tell whether the request of that number is here."""
        return 0 <= number - self.first < len(self._requests)

    def get(self, number: int) -> CountMessagesStreamRequest | None:
        """Give the request of that number, if it is here."""
        return self._requests[number - self.first] if self.has(number) else None

    def answer(self, response: CountMessagesStreamResponse) -> Counted:
        """Take out the oldest, which this answers."""
        return self.settle(from_stream(response.error) if response.HasField("error") else response.count)

    def settle(self, result: Count | TokenCountError) -> Counted:
        """Take out the oldest, of which this is what became."""
        request = self._requests.popleft()
        self._bytes -= request.ByteSize()
        self.first += 1
        return Counted(request.id, result)

    def close(self) -> None:
        """Drop the requests, and take no more."""
        self._requests.clear()
        self.ended = True


class Patience:
    """How long a server that gives no answers is tried."""

    def __init__(self, seconds: float) -> None:
        """Give up after so many seconds."""
        self._seconds = seconds
        self._since: float | None = None
        self._pause = _FIRST_PAUSE

    def pause(self, failure: TokenCountError | None, answered: bool) -> float:
        """Give the seconds until the next stream, after one that gave answers or not.

        Raises:
            TokenCountError: the failure won't pass, or the server was away for too long.

        """
        if failure is None:
            if answered:
                self._since = None
                return 0.0
            failure = TokenCountError(AWAY, "", "", "the server ended the stream without an answer")
        now = time.monotonic()
        if answered or self._since is None:
            self._since = now
            self._pause = _FIRST_PAUSE
        may_pass = failure.code is AWAY or failure.reason in _LIMITED
        if not may_pass or now - self._since > self._seconds:
            raise failure
        self._pause, pause = min(2 * self._pause, _LONGEST_PAUSE), self._pause
        return pause * random.uniform(0.5, 1.0)  # noqa: S311 (spreads clients, hides nothing)


def is_too_large(error: TokenCountError) -> bool:
    """Tell whether the server doesn't take the request for its size: it ends a whole stream for that."""
    return error.code is grpc.StatusCode.RESOURCE_EXHAUSTED and error.reason in _TOO_LARGE
