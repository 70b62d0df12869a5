"""The daemon's gRPC server: the service, its health, and reflection, on one port."""

from concurrent.futures import Executor
from typing import Any

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2
from grpc_reflection.v1alpha._async import ReflectionServicer

from tokencountd import _core, handlers
from tokencountd.handlers import SERVICE, Admission, Tracing
from tokencountd.health import Health
from tokencountd.settings import Settings

_HEALTH: str = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name
# grpcio-reflection has v1alpha only. The messages of v1 are the same on the wire, and newer clients
# ask for nothing else.
_REFLECTION_V1 = "grpc.reflection.v1.ServerReflection"


def build(
    settings: Settings, engine: _core.Engine, threads: Executor, tracing: Tracing | None = None
) -> tuple["grpc.aio.Server", Health, Admission]:
    """A server that isn't bound or started yet. Needs a running event loop."""
    server = grpc.aio.server(options=_options(settings))
    admission = Admission(settings.max_concurrent_calls, settings.max_message_bytes)
    handlers.register(server, handlers.asynchronous(engine, admission, threads, tracing))
    health = Health(SERVICE)
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    _add_reflection(server)
    return server, health, admission


def _options(settings: Settings) -> list[tuple[str, int]]:
    return [
        # The handlers refuse what is above the limit and say why; gRPC itself only cuts off what
        # is far above it, without details.
        ("grpc.max_receive_message_length", min(2 * settings.max_message_bytes, (1 << 31) - 1)),
        ("grpc.max_send_message_length", -1),
        # Two servers on one port would share its calls without a word.
        ("grpc.so_reuseport", 0),
    ]


def _add_reflection(server: "grpc.aio.Server") -> None:
    names = (SERVICE, _HEALTH, reflection.SERVICE_NAME, _REFLECTION_V1)
    servicer: Any = ReflectionServicer(service_names=names)
    handler = grpc.stream_stream_rpc_method_handler(
        servicer.ServerReflectionInfo,
        request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
        response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    methods = {"ServerReflectionInfo": handler}
    for name in (reflection.SERVICE_NAME, _REFLECTION_V1):
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, methods),))
