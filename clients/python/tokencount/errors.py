"""What a failed call raises, read from the details that the server attaches."""

import contextlib
from collections.abc import Iterable
from typing import Protocol, cast

import grpc
from google.protobuf.message import DecodeError

from tokencount.error_details_pb2 import BadRequest, ErrorInfo, RpcStatus
from tokencount.v1 import ErrorReason, StreamError

_DETAILS_KEY = "grpc-status-details-bin"
_REASON_PREFIX = "ERROR_REASON_"
_CODES = {code.value[0]: code for code in grpc.StatusCode}
_UNREACHABLE = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.CANCELLED,
    }
)


class TokenCountError(Exception):
    """A call failed.

    Attributes:
        code: the gRPC status code.
        reason: the `ErrorReason` without its prefix, such as "PREFIX_UNKNOWN"; empty if the failure
            isn't the service's own answer, as when no server can be reached.
        field: path of the field that is wrong, such as "typed.messages[2].role"; empty if none is.
        message: what is wrong, for people. Never holds text of the prompt.

    """

    def __init__(self, code: grpc.StatusCode, reason: str, field: str, message: str) -> None:
        """Keep the four; `str()` shows code, reason and message."""
        super().__init__(code, reason, field, message)
        self.code = code
        self.reason = reason
        self.field = field
        self.message = message

    def __str__(self) -> str:
        """Show code, reason and message."""
        return f"{' '.join(filter(None, (self.code.name, self.reason)))}: {self.message}"

    @property
    def prefix_unknown(self) -> bool:
        """`base` isn't known to the server, or has expired: send the whole prompt."""
        return self.reason == "PREFIX_UNKNOWN"

    @property
    def unreachable(self) -> bool:
        """No answer came: there is no server, or none in time, or it was stopped meanwhile."""
        return self.code in _UNREACHABLE


class _Failure(Protocol):
    """What the errors of `grpc` and `grpc.aio` have in common."""

    def code(self) -> grpc.StatusCode: ...
    def details(self) -> str | None: ...
    def trailing_metadata(self) -> object: ...


def from_rpc(failure: _Failure) -> TokenCountError:
    """Read the error of a failed call. Details that don't parse, as from a proxy, count as none."""
    # Pairs in both, whatever their type stubs say.
    trailers = cast(Iterable[tuple[str, str | bytes]], failure.trailing_metadata() or ())
    details = dict(trailers).get(_DETAILS_KEY, b"")
    info, request = ErrorInfo(), BadRequest()
    with contextlib.suppress(DecodeError):
        for detail in RpcStatus.FromString(_binary(details)).details:
            for message in (info, request):
                # Ours are the originals under other names, so `Any.Unpack` would refuse them.
                if detail.type_url.endswith(f"/google.rpc.{message.DESCRIPTOR.name}"):
                    message.MergeFromString(detail.value)
    field = request.field_violations[0].field if request.field_violations else ""
    return TokenCountError(failure.code(), info.reason, field, failure.details() or "")


def from_stream(error: StreamError) -> TokenCountError:
    """Read the error of one prompt of a stream. What a newer server may send counts as unknown."""
    code = _CODES.get(error.code, grpc.StatusCode.UNKNOWN)
    known = error.reason in ErrorReason.values()
    reason = ErrorReason.Name(error.reason).removeprefix(_REASON_PREFIX) if known else ""
    return TokenCountError(code, reason, error.field, error.message)


def _binary(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else b""
