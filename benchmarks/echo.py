"""A `grpc.aio` server that gives every request back as it came: what the transport alone costs."""

import asyncio
from typing import Any

import grpc
import grpc.aio

from tokencount.v1 import token_counter_service_pb2

_SERVICE = token_counter_service_pb2.DESCRIPTOR.services_by_name["TokenCounterService"]


async def _echo(request: bytes, _context: "grpc.aio.ServicerContext[bytes, bytes]") -> bytes:
    return request


async def _serve() -> None:
    server: Any = grpc.aio.server()
    methods: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {
        method.name: grpc.unary_unary_rpc_method_handler(_echo) for method in _SERVICE.methods
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE.full_name, methods),))
    server.add_registered_method_handlers(_SERVICE.full_name, methods)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"echo listening on 127.0.0.1:{port}", flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(_serve())
