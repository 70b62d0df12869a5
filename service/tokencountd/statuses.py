"""The statuses of calls that never reach the engine, or that break in it.

The engine's own failures carry their details already; these are the transport's. A status is a
`Refusal`, whatever raised it.
"""

from typing import NamedTuple

import grpc
from google.protobuf.any_pb2 import Any
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2  # pyright: ignore[reportMissingTypeStubs]

from tokencountd._core import StatusError

DOMAIN = "tokencount.v1"
DETAILS = "grpc-status-details-bin"

CODES = {code.value[0]: code for code in grpc.StatusCode}
"""gRPC's codes by number."""


class Refusal(NamedTuple):
    """A failed call as it goes over the wire: the arguments of `context.abort`."""

    code: grpc.StatusCode
    message: str
    trailer: tuple[tuple[str, bytes], ...]


def of_error(error: StatusError) -> Refusal:
    """The engine's failure."""
    code = CODES.get(error.code, grpc.StatusCode.INTERNAL)
    return Refusal(code, str(error), ((DETAILS, error.details),))


def _refusal(code: grpc.StatusCode, reason: str, message: str, *more: Message) -> Refusal:
    status = status_pb2.Status(code=code.value[0], message=message)
    for detail in (error_details_pb2.ErrorInfo(reason=reason, domain=DOMAIN), *more):
        packed = Any()
        packed.Pack(detail)
        status.details.append(packed)
    return Refusal(code, message, ((DETAILS, status.SerializeToString()),))


OVERLOADED = _refusal(
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    "OVERLOADED",
    "the server has as many calls in flight as it takes: retry after a second",
    error_details_pb2.RetryInfo(retry_delay=Duration(seconds=1)),
)
"""Too many calls are in flight."""

INTERNAL = _refusal(
    grpc.StatusCode.INTERNAL, "INTERNAL", "a defect of the server: its log says where, without the prompt"
)
"""Something broke that never should."""


def too_large(size: int, limit: int) -> Refusal:
    """The request has `size` bytes and the server takes `limit`."""
    return _refusal(
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "TOO_LARGE",
        f"the request has {size} bytes and the server takes {limit}: send `base` and the new messages only",
    )
