"""The extension module: the counting core, over bytes.

Requests and answers are encoded messages of `tokencount.v1`. Every call releases the interpreter
lock for its whole length and may be made from any thread.
"""

from collections.abc import Mapping, Sequence
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
        store_bytes: int = ...,
        tenant_store_bytes: int | None = None,
        time_to_live: float = ...,
        cache_bytes: int = ...,
    ) -> None:
        """Opens the store in `data_dir`; None keeps everything in memory.

        `secret` keys the digests on disk; empty takes one that is kept in the data directory.
        `profiles` is the text of a TOML file that extends the profile table. `store_bytes` caps
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
        """The names of the vocabularies."""

    def metrics(self) -> list[Metric]:
        """What happened since the start, for telemetry."""

    def flush(self) -> None:
        """Returns when everything accepted is on disk."""

    def close(self) -> None:
        """Flushes and closes the store. Calls after it fail."""

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
