"""The engine's failures, and its defects, as grpcio sends them."""

from typing import NamedTuple

import grpc
from google.protobuf.any_pb2 import Any
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
    """The service's own failure, which carries its details."""
    code = CODES.get(error.code, grpc.StatusCode.INTERNAL)
    return Refusal(code, str(error), ((DETAILS, error.details),))


def _internal() -> Refusal:
    message = "a defect of the server: its log says where, without the prompt"
    code = grpc.StatusCode.INTERNAL
    status = status_pb2.Status(code=code.value[0], message=message)
    packed = Any()
    packed.Pack(error_details_pb2.ErrorInfo(reason="INTERNAL", domain=DOMAIN))
    status.details.append(packed)
    return Refusal(code, message, ((DETAILS, status.SerializeToString()),))


INTERNAL = _internal()
"""Something broke in the transport that never should."""
