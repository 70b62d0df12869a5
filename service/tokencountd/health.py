"""`grpc.health.v1` for a server that is serving from its start until it drains.

The library's servicer leaves a `Watch` open when the server stops, which would hold every shutdown
for the whole grace period. This one ends its watches with the last status.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

_Response = health_pb2.HealthCheckResponse


class Health(health_pb2_grpc.HealthServicer):
    """The health of the named services and of the server as a whole (the empty name)."""

    def __init__(self, *services: str) -> None:
        self._services = {"", *services}
        self._draining = asyncio.Event()

    def drain(self) -> None:
        """Turns every service to NOT_SERVING and ends the watches. There is no way back."""
        self._draining.set()

    async def Check(  # noqa: N802  (the contract's name)
        self, request: health_pb2.HealthCheckRequest, context: Any
    ) -> _Response:
        """The status of a service; NOT_FOUND for one that isn't here."""
        if request.service not in self._services:
            await context.abort(grpc.StatusCode.NOT_FOUND, "unknown service")
        return self._status(request.service)

    async def Watch(  # noqa: N802
        self,
        request: health_pb2.HealthCheckRequest,
        context: Any,  # noqa: ARG002
    ) -> AsyncIterator[_Response]:
        """The status of a service now, and again when the server drains."""
        if not self._draining.is_set():
            yield self._status(request.service)
            await self._draining.wait()
        yield self._status(request.service)

    def _status(self, service: str) -> _Response:
        if service not in self._services:
            return _Response(status=_Response.SERVICE_UNKNOWN)
        return _Response(status=_Response.NOT_SERVING if self._draining.is_set() else _Response.SERVING)
