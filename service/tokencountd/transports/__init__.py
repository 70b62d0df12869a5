"""What carries calls to the service: natively, or by grpcio. One contract suite runs over both."""

from typing import Protocol

from tokencountd import _core
from tokencountd.access import Pem
from tokencountd.settings import Settings


class Transport(Protocol):
    """A server that is bound and not started yet."""

    port: int

    async def start(self) -> None:
        """Takes calls from now on."""
        ...

    async def drain(self) -> int:
        """Turns health to NOT_SERVING and ends. Returns how many calls had to be cut off."""
        ...

    def set_tls(self, tls: Pem) -> None:
        """Uses other certificates for connections from now on. Raises `ValueError` for wrong ones."""
        ...


def make(settings: Settings, service: _core.Service, tls: Pem | None) -> Transport:
    """The transport of the settings. Raises `OSError` if it can't listen, `ValueError` for `tls`."""
    # Imported here: the native one needs no grpcio, and starts faster without it.
    if settings.transport == "native":
        from tokencountd.transports.native import Native

        return Native(settings, service, tls)
    from tokencountd.transports.grpcio import Grpcio

    return Grpcio(settings, service, tls)
