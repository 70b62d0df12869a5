"""The extension module: the counting core, over bytes.

Requests and answers are encoded messages of `tokencount.v1`. Every call releases the interpreter
lock for its whole length and may be made from any thread.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

@final
class StatusError(Exception):
    """A call failed. `str()` gives the sentence with the field's path."""

    code: int
    """The gRPC code, such as 3 for INVALID_ARGUMENT."""
    reason: str
    """The name of an `ErrorReason` without its prefix, such as "PREFIX_UNKNOWN"."""
    field: str
    """The path of the field that is wrong; empty if it is none in particular."""
    details: bytes
    """The encoded `google.rpc.Status`, for the trailer `grpc-status-details-bin`."""

@final
class Engine:
    """Counts, estimates and remembers. One for each data directory and process."""

    def __init__(
        self,
        data_dir: str | None = None,
        *,
        secret: bytes = b"",
        profiles: str | None = None,
        profiles_dir: str = "",
        store_bytes: int = ...,
        tenant_store_bytes: int | None = None,
        time_to_live: float = ...,
        cache_bytes: int = ...,
    ) -> None:
        """Opens the store in `data_dir`; None keeps everything in memory.

        `secret` keys the digests on disk; empty takes one that is kept in the data directory.
        `profiles` is the text of a TOML file that extends the profile table, `profiles_dir` the
        directory that paths in it start from (empty: the working directory). `store_bytes` caps
        the store, `tenant_store_bytes` one tenant's part of it (None: all of it), `time_to_live`
        (seconds) its records, `cache_bytes` the counts kept in memory.
        Raises `ValueError` for a wrong table, `OSError` if the store can't be opened.
        """

    def count_messages(self, request: bytes, tenant: str = "", timeout: float | None = None) -> bytes:
        """Answers a `CountMessagesRequest`. `timeout` is in seconds; None means no limit."""

    def estimate_conversation(self, request: bytes, tenant: str = "", timeout: float | None = None) -> bytes:
        """Answers an `EstimateConversationRequest`."""

    def record_actual(self, request: bytes, tenant: str = "", timeout: float | None = None) -> bytes:
        """Answers a `RecordActualRequest` after the store's commit: it may wait for the disk."""

    def count_lines(self, lines: Sequence[bytes], defaults: Mapping[str, str]) -> list[tuple[bytes, bool]]:
        """Answers lines of bulk mode in order: the output line, and whether it is a count.

        `defaults` may hold `format`, `model` and `encoding` for lines that name none.
        """

    def detect_format(self, body: bytes) -> str:
        """The bulk name of the interface that a body looks made for; empty if it looks like none."""

    def profiles(self) -> list[dict[str, Any]]:
        """The profile table: `name`, `family`, `encoding`, `window`, `format`, and `accuracy`."""

    def encodings(self) -> list[str]:
        """The names of the vocabularies, those of the profile table's files last."""

    def set_hook(self, hook: Callable[[str, int], object]) -> None:
        """Calls `hook` with the method and the request's size at the start of each call's work.

        For tests: a call hangs while the hook does, and panics when it raises. Can be set once.
        """

    def metrics(self) -> list[Metric]:
        """What happened since the start, for telemetry."""

    def flush(self) -> None:
        """Returns when everything accepted is on disk."""

    def close(self) -> None:
        """Flushes and closes the store. Calls after it fail."""

@final
class Service:
    """The engine behind its gate: who calls, and how much at once. The same for every transport."""

    def __init__(
        self,
        engine: Engine,
        *,
        anonymous: bool = True,
        max_calls: int | None = None,
        max_message_bytes: int | None = None,
        tenant_calls: int | None = None,
        tenant_call_rate: int | None = None,
        tenant_byte_rate: int | None = None,
        trace_ratio: float | None = None,
    ) -> None:
        """None is no limit. Rates are a second. `trace_ratio` None keeps no spans.

        The engine stays its owner's: once it is closed, calls fail with UNAVAILABLE.
        """

    def set_tokens(self, tokens: Sequence[tuple[str, str, bytes, float | None]]) -> None:
        """Knows these tokens from now on: tenant, id, SHA-256 of the secret, expiry (Unix time)."""

    def admit(self, size: int, authorization: bytes | None = None, certificate: bytes | None = None) -> Pass:
        """Lets a request of `size` bytes in. `certificate` is PEM, and verified already.

        Raises `StatusError` if the caller is unknown or a limit is reached.
        """

    def active(self) -> int:
        """How many calls are in flight."""

    def metrics(self) -> list[Metric]:
        """Calls in flight and refused."""

    def begin_span(self, method: str, traceparent: bytes | None = None) -> Span | None:
        """The span of a call that begins now, if it is sampled."""

    def end_span(self, span: Span | None, code: int) -> None:
        """Keeps the span of a call that has ended with a gRPC code."""

    def take_spans(self) -> list[Span]:
        """The spans that have ended since the last time."""

@final
class Pass:
    """A request that was let in. It counts as in flight until `leave`."""

    def answer(self, method: str, request: bytes, timeout: float | None = None) -> bytes:
        """Answers the request by the method of that full name, "tokencount.v1.TokenCounterService/...".

        `timeout` is in seconds. Raises `StatusError`.
        """

    def leave(self) -> None:
        """Gives the place back."""

@final
class Span:
    """A sampled call."""

    method: str
    trace_id: int
    span_id: int
    parent_id: int
    """The caller's span; 0 means none."""
    start: int
    """Nanoseconds since the epoch, like `end`."""
    end: int
    code: int
    """The gRPC code."""

@final
class Server:
    """The native transport. It serves from the moment it is made until `drain`."""

    port: int

    def __init__(
        self,
        service: Service,
        listen: str,
        *,
        threads: int,
        max_connections: int,
        connection_age: float,
        keepalive: float,
        receive_timeout: float,
        grace_period: float,
        drain_delay: float,
        tls: tuple[bytes, bytes, bytes | None, bool] | None = None,
    ) -> None:
        """Times are in seconds. `tls` is certificate, key, clients' CA, and whether clients need one.

        Raises `OSError` if it can't listen, `ValueError` for `tls`.
        """

    def set_tls(self, tls: tuple[bytes, bytes, bytes | None, bool]) -> None:
        """Uses these for connections from now on. Raises `ValueError` if they are wrong."""

    def drain(self) -> int:
        """Ends as calls end, at the latest after the grace period. Returns how many were cut off."""

@final
class Metric:
    """One instrument and its points since the start (cumulative)."""

    name: str
    description: str
    unit: str
    kind: str
    """One of "counter", "gauge", "histogram"."""
    boundaries: list[float]
    """Upper bounds of a histogram's buckets; the last bucket, above them all, has none."""
    points: list[tuple[dict[str, str], float, list[int]]]
    """For each set of attributes: the value (the sum, for a histogram) and the bucket counts."""

def protocol_version() -> str:
    """The package name of the contract, "tokencount.v1"."""
