"""The native transport: a server inside the extension, started and drained from here."""

import asyncio

from tokencountd import _core
from tokencountd.access import Pem
from tokencountd.settings import Settings


class Native:
    """A tonic server. It takes calls from the moment it is made: what it needs is ready by then."""

    def __init__(self, settings: Settings, service: _core.Service, tls: Pem | None) -> None:
        self._server = _core.Server(
            service,
            settings.listen,
            threads=settings.threads,
            max_connections=settings.max_connections,
            connection_age=settings.max_connection_age,
            keepalive=settings.keepalive,
            receive_timeout=settings.receive_timeout,
            grace_period=settings.grace_period,
            drain_delay=settings.drain_delay,
            tls=tls,
        )
        self.port = self._server.port

    async def start(self) -> None:
        """It is started already."""

    async def drain(self) -> int:
        """Waits on a thread, so that a second signal is heard."""
        return await asyncio.to_thread(self._server.drain)

    def set_tls(self, tls: Pem) -> None:
        """Uses other certificates for connections from now on."""
        self._server.set_tls(tls)
