"""Real server processes for the tests, on free ports with stores of their own."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest
from support import Daemon

from tokencount.v1.token_counter_service_pb2_grpc import TokenCounterServiceStub

Start = Callable[..., Daemon]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts daemons that end with the test."""
    with contextlib.ExitStack() as stack:

        def begin(*flags: str, **environ: str) -> Daemon:
            directory = tmp_path / str(len(list(tmp_path.iterdir())))
            directory.mkdir()
            daemon = Daemon(directory, *flags, **environ)
            stack.callback(daemon.wait)
            stack.callback(daemon.process.kill)
            return daemon

        yield begin


@pytest.fixture(scope="session", params=["native", "grpcio"])
def daemon(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon that the tests share, of each transport."""
    daemon = Daemon(tmp_path_factory.mktemp("daemon"), "--transport", request.param)
    assert daemon.address, daemon.log.read_text()
    yield daemon
    assert daemon.stop() == 0, daemon.log.read_text()


@pytest.fixture(scope="session")
def channel(daemon: Daemon) -> Iterator[grpc.Channel]:
    with daemon.channel() as channel:
        yield channel


@pytest.fixture(scope="session")
def stub(channel: grpc.Channel) -> TokenCounterServiceStub:
    return TokenCounterServiceStub(channel)
