"""Fixtures: a server, and both clients."""

from collections.abc import Callable, Iterator

import pytest

from tests.blocking import blocking_async_client
from tests.server import Server
from tokencount import Client

Connect = Callable[..., Client]


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a server."""
    with Server() as running:
        yield running.address


@pytest.fixture(params=[Client, blocking_async_client], ids=["sync", "async"])
def connect(request: pytest.FixtureRequest) -> Connect:
    """Opens a client of either kind."""
    return request.param


@pytest.fixture
def client(connect: Connect, server: str) -> Iterator[Client]:
    """A client of the running server."""
    with connect(server) as connected:
        yield connected
