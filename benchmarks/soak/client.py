"""A good client: it calls all the time, as programs do, and notes every call that fails."""

import json
import random
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

import grpc

from benchmarks import prompts
from tokencount.v1 import (
    STATUS_SUCCEEDED,
    CountMessagesRequest,
    CountMessagesStreamRequest,
    EstimateConversationRequest,
    RecordActualRequest,
    Usage,
)
from tokencount.v1.token_counter_service_pb2_grpc import TokenCounterServiceStub

TIMEOUT = 20.0
"""Seconds after which a call counts as hung, and so as failed."""

# A call that was given to a connection, and not yet begun when GOAWAY comes, fails in grpcio unless it may
# be repeated. So the client watches the servers' health, which turns before.
_SERVICE_CONFIG: dict[str, Any] = {
    "loadBalancingConfig": [{"round_robin": {}}],
    "healthCheckConfig": {"serviceName": ""},
}

# A target of several addresses makes an :authority with a comma in it, encoded as "%2C", which is no
# authority by RFC 3986, and which hyper refuses with a PROTOCOL_ERROR. So it is given.
OPTIONS: list[tuple[str, Any]] = [
    ("grpc.default_authority", "localhost"),
    ("grpc.enable_retries", 0),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 100),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    ("grpc.service_config", json.dumps(_SERVICE_CONFIG)),
]


def channel(*addresses: str) -> grpc.Channel:
    """A channel that takes the addresses in turns and repeats no call."""
    return grpc.insecure_channel(f"ipv4:{','.join(addresses)}", OPTIONS)


class GoodClient:
    """Threads that call until the end of the `with` statement.

    Without `streams` where servers end: a stream may be long, so a drain ends it after what was read.
    """

    def __init__(self, *addresses: str, threads: int = 8, streams: bool = True) -> None:
        self.calls = 0
        self.failures: Counter[str] = Counter()
        self._channel = channel(*addresses)
        self._calls = _calls(TokenCounterServiceStub(self._channel), streams)
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._work, args=(seed,)) for seed in range(threads)]

    @property
    def failed(self) -> int:
        """How many calls failed."""
        return self.failures.total()

    def _work(self, seed: int) -> None:
        source = random.Random(seed)
        while not self._stopped.is_set():
            call = source.choice(self._calls)
            failure = None
            try:
                call()
            except grpc.RpcError as error:
                failure = f"{call.__name__}: {error}"
            with self._lock:
                self.calls += 1
                if failure:
                    self.failures[failure] += 1

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()
        self._channel.close()


def _calls(stub: TokenCounterServiceStub, streams: bool) -> Sequence[Callable[[], object]]:
    """One of each kind, small ones more often."""
    small = CountMessagesRequest(provider_request=prompts.provider_request(prompts.messages(2, 100)))
    large = CountMessagesRequest(typed=prompts.typed(prompts.messages(200, 1000)))
    estimate = EstimateConversationRequest(provider_request=small.provider_request)
    usage = Usage(input_tokens=60, output_tokens=5)
    record = RecordActualRequest(typed=prompts.typed(prompts.messages(2, 100)), usage=usage)
    record.status = STATUS_SUCCEEDED
    some = [CountMessagesStreamRequest(id=str(number), count_messages=small) for number in range(20)]

    def count() -> None:
        stub.CountMessages(small, timeout=TIMEOUT)

    def count_large() -> None:
        stub.CountMessages(large, timeout=TIMEOUT)

    def count_stream() -> None:
        answers = list(stub.CountMessagesStream(iter(some), timeout=TIMEOUT))
        assert [answer.id for answer in answers] == [one.id for one in some]

    def estimate_conversation() -> None:
        stub.EstimateConversation(estimate, timeout=TIMEOUT)

    def record_actual() -> None:
        stub.RecordActual(record, timeout=TIMEOUT)

    unary = [*[count] * 12, *[estimate_conversation] * 4, count_large, record_actual]
    return [*unary, count_stream] if streams else unary
