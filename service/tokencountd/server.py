"""The daemon's gRPC server: the service, its health, and reflection, on one port."""

from concurrent.futures import Executor

import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tokencountd import _core, handlers, reflection
from tokencountd.handlers import SERVICE, Admission, Tracing
from tokencountd.health import Health
from tokencountd.settings import Settings

_HEALTH: str = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name


def build(
    settings: Settings, engine: _core.Engine, threads: Executor, tracing: Tracing | None = None
) -> tuple["grpc.aio.Server", Health, Admission]:
    """A server that isn't bound or started yet. Needs a running event loop."""
    server = grpc.aio.server(options=_options(settings))
    admission = Admission(settings.max_concurrent_calls, settings.max_message_bytes)
    handlers.register(server, handlers.asynchronous(engine, admission, threads, tracing))
    health = Health(SERVICE)
    health_pb2_grpc.add_HealthServicer_to_server(health, server)  # pyright: ignore[reportUnknownMemberType] # no stubs
    reflection.add(server, (SERVICE, _HEALTH))
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
