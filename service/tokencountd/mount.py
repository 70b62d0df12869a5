"""Mounts the service on a grpcio server that someone already runs."""

from concurrent.futures import ThreadPoolExecutor

import grpc
import grpc.aio

from tokencountd import _core, handlers
from tokencountd.engine import Engine

_THREADS = 4


def add_token_counter_to_server(
    server: "grpc.Server | grpc.aio.Server", engine: Engine | _core.Engine
) -> None:
    """Adds `tokencount.v1.TokenCounterService` to a server, before it starts.

    Works for a `grpc.aio.server` and a `grpc.server`. The server keeps its own limits, health,
    credentials and interceptors, and whoever made the engine closes it after the server stopped.
    """
    core = engine.core if isinstance(engine, Engine) else engine
    service = _core.Service(core)
    if isinstance(server, grpc.aio.Server):
        threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="tokencountd")
        handlers.register(server, handlers.asynchronous(service, threads))
    else:
        handlers.register(server, handlers.synchronous(service))
