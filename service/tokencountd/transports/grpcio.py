"""The grpcio transport: the service, its health, and reflection on a `grpc.aio` server."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tokencountd import _core, handlers, reflection
from tokencountd.access import Pem
from tokencountd.handlers import SERVICE
from tokencountd.health import Health
from tokencountd.settings import Settings, SettingsError

_HEALTH: str = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name


class Grpcio:
    """A `grpc.aio` server. Needs a running event loop."""

    def __init__(self, settings: Settings, service: _core.Service, tls: Pem | None) -> None:
        self._settings = settings
        self._service = service
        self._certificates: grpc.ServerCertificateConfiguration | None = None
        self._threads = ThreadPoolExecutor(settings.threads, thread_name_prefix="tokencountd")
        self._health = Health(SERVICE)
        self._server = self._build(settings)
        self.port = self._bind(settings.listen, tls)

    def _build(self, settings: Settings) -> "grpc.aio.Server":
        server = grpc.aio.server(options=_options(settings))
        handlers.register(server, handlers.asynchronous(self._service, self._threads))
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)  # pyright: ignore[reportUnknownMemberType] # no stubs
        reflection.add(server, (SERVICE, _HEALTH))
        return server

    def _bind(self, listen: str, tls: Pem | None) -> int:
        try:
            if tls is None:
                return self._server.add_insecure_port(listen)
            return self._server.add_secure_port(listen, self._credentials(tls))
        except RuntimeError as error:
            raise OSError(str(error)) from error

    def _credentials(self, tls: Pem) -> grpc.ServerCredentials:
        _, _, client_ca, required = tls
        if client_ca is not None and not required:
            # grpcio asks every client for a certificate or none.
            raise SettingsError(
                "--tls-client-ca beside --tokens or --allow-anonymous: needs --transport native"
            )
        certificates = self._certificates = _configuration(tls)
        # Asked for at every handshake, so that other certificates need no restart.
        return grpc.dynamic_ssl_server_credentials(
            certificates, lambda: self._certificates or certificates, required
        )

    async def start(self) -> None:
        """Takes calls from now on."""
        await self._server.start()

    async def drain(self) -> int:
        """Turns health to NOT_SERVING and ends. Returns how many calls had to be cut off."""
        self._health.drain()
        # Clients that look at health go elsewhere meanwhile: calls that are about to begin when the
        # server stops are cut off.
        await asyncio.sleep(self._settings.drain_delay)
        await self._server.stop(self._settings.grace_period)
        cut_off = self._service.active()
        # The threads of calls that were cut off are still in the engine.
        self._threads.shutdown(wait=not cut_off)
        return cut_off

    def set_tls(self, tls: Pem) -> None:
        """Uses other certificates for connections from now on."""
        self._certificates = _configuration(tls)


def _configuration(tls: Pem) -> grpc.ServerCertificateConfiguration:
    certificate, key, client_ca, _ = tls
    return grpc.ssl_server_certificate_configuration([(key, certificate)], client_ca)


def _options(settings: Settings) -> list[tuple[str, int]]:
    return [
        # The service refuses what is above the limit and says why; gRPC itself only cuts off what
        # is far above it, without details.
        ("grpc.max_receive_message_length", min(2 * settings.max_message_bytes, (1 << 31) - 1)),
        ("grpc.max_send_message_length", -1),
        # Two servers on one port would share its calls without a word.
        ("grpc.so_reuseport", 0),
        ("grpc.max_connection_age_ms", int(settings.max_connection_age * 1000)),
        ("grpc.max_connection_age_grace_ms", int(settings.grace_period * 1000)),
        ("grpc.keepalive_time_ms", int(settings.keepalive * 1000)),
    ]
