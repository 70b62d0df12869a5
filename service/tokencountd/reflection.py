"""Server reflection, so that grpcurl and ghz need no proto file."""

from collections.abc import Iterable
from typing import Any

import grpc
import grpc.aio
from google.protobuf import descriptor_pool
from grpc_reflection.v1alpha import reflection, reflection_pb2
from grpc_reflection.v1alpha._async import ReflectionServicer

# grpcio-reflection has v1alpha only. The messages of v1 are the same on the wire, and newer clients
# ask for nothing else.
_VERSIONS = (reflection.SERVICE_NAME, "grpc.reflection.v1.ServerReflection")


def add(server: "grpc.aio.Server", services: Iterable[str]) -> None:
    """Adds reflection of these services, and of itself, to a server."""
    servicer: Any = ReflectionServicer(service_names=(*services, *_VERSIONS), pool=_Pool())
    handler = grpc.stream_stream_rpc_method_handler(
        servicer.ServerReflectionInfo,
        request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
        response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    methods = {"ServerReflectionInfo": handler}
    for name in _VERSIONS:
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, methods),))


class _Pool:
    """The descriptors, found by their methods' names too.

    The protocol has a method among the symbols, and ghz asks for nothing else, but protobuf's pool
    finds services only.
    """

    def __init__(self) -> None:
        self._pool: Any = descriptor_pool.Default()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)

    def FindFileContainingSymbol(self, symbol: str) -> Any:  # noqa: N802
        """The file of a symbol. Raises `KeyError` if there is none."""
        try:
            return self._pool.FindFileContainingSymbol(symbol)
        except KeyError:
            return self._pool.FindMethodByName(symbol).containing_service.file
