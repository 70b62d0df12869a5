"""Start, health, drain and end of a real daemon."""

import os
import signal
import socket
from pathlib import Path
from typing import Any, Self

import grpc
import pytest
from conftest import Start
from grpc_health.v1 import health_pb2
from grpc_health.v1.health_pb2_grpc import HealthStub
from support import PATIENCE, SERVICE, error_of, scrape, until, words

from tokencount.v1 import prompt_pb2 as pb
from tokencount.v1 import token_counter_service_pb2 as wire
from tokencount.v1.token_counter_service_pb2_grpc import TokenCounterServiceStub
from tokencount.v1.usage_pb2 import STATUS_SUCCEEDED

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


def small() -> wire.CountMessagesRequest:
    message = pb.Message(role=pb.ROLE_USER, parts=[pb.Part(text="hello")])
    return wire.CountMessagesRequest(typed=pb.Prompt(model="gpt-4o", messages=[message]))


def large() -> wire.CountMessagesRequest:
    """A request that goes to a thread, and there waits at the gate."""
    message = pb.Message(role=pb.ROLE_USER, parts=[pb.Part(text=words(10_000))])
    return wire.CountMessagesRequest(typed=pb.Prompt(model="gpt-4o", messages=[message]))


class InFlight:
    """A daemon with one call in flight, until it is let `go`."""

    def __init__(self, start: Start, tmp_path: Path, *flags: str) -> None:
        gate = tmp_path / "gate"
        os.mkfifo(gate)
        self.daemon = start(*flags, GATE=str(gate))
        self._channel = self.daemon.channel()
        self.stub = TokenCounterServiceStub(self._channel)
        self.answer = self.stub.CountMessages.future(large(), timeout=PATIENCE)
        until(lambda: self._arrived(gate))

    def _arrived(self, gate: Path) -> bool:
        try:
            # Fails until there is a reader: the call.
            self._gate = os.open(gate, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return False
        return True

    def go(self) -> None:
        os.close(self._gate)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._channel.close()


TRANSPORTS = pytest.mark.parametrize("transport", ["native", "grpcio"])


@TRANSPORTS
def test_one_line_says_the_address(start: Start, transport: str) -> None:
    daemon = start("--transport", transport)
    assert not daemon.address.endswith(":0")
    assert daemon.stop() == 0
    assert daemon.process.stdout
    assert daemon.process.stdout.read() == ""
    assert [event["message"] for event in daemon.events()] == ["ready", "draining", "stopped"]


@TRANSPORTS
@pytest.mark.parametrize("service", ["", SERVICE])
def test_health_turns_at_the_drain(start: Start, service: str, transport: str) -> None:
    daemon = start("--transport", transport)
    with daemon.channel() as channel:
        stub: Any = HealthStub(channel)
        assert stub.Check(health_pb2.HealthCheckRequest(service=service)).status == SERVING
        watch = iter(stub.Watch(health_pb2.HealthCheckRequest(service=service), timeout=PATIENCE))
        assert next(watch).status == SERVING
        daemon.process.terminate()
        assert [answer.status for answer in watch] == [NOT_SERVING]
    assert daemon.wait() == 0


def test_health_of_another_service(channel: grpc.Channel) -> None:
    stub: Any = HealthStub(channel)
    request = health_pb2.HealthCheckRequest(service="other")
    error, _ = error_of(lambda: stub.Check(request))
    assert error.code() == grpc.StatusCode.NOT_FOUND
    assert next(iter(stub.Watch(request))).status == health_pb2.HealthCheckResponse.SERVICE_UNKNOWN


@TRANSPORTS
def test_a_call_in_flight_finishes(start: Start, tmp_path: Path, transport: str) -> None:
    with InFlight(start, tmp_path, "--transport", transport) as call:
        call.daemon.process.terminate()
        assert call.daemon.event("draining")["calls"] == 1
        call.go()
        assert call.answer.result().count.tokens > 10_000
        assert call.daemon.wait() == 0


@TRANSPORTS
def test_no_new_call_while_draining(start: Start, tmp_path: Path, transport: str) -> None:
    flags = ("--transport", transport, "--drain-delay", "0s")
    with InFlight(start, tmp_path, *flags) as call, call.daemon.channel() as channel:
        call.daemon.process.terminate()
        call.daemon.event("draining")
        error, _ = error_of(lambda: TokenCounterServiceStub(channel).CountMessages(small(), timeout=PATIENCE))
        assert error.code() == grpc.StatusCode.UNAVAILABLE
        call.go()
        assert call.daemon.wait() == 0


@TRANSPORTS
def test_a_call_above_the_grace_period_is_cut_off(start: Start, tmp_path: Path, transport: str) -> None:
    with InFlight(start, tmp_path, "--grace-period", "10ms", "--transport", transport) as call:
        call.daemon.process.terminate()
        assert isinstance(call.answer.exception(), grpc.RpcError)
        assert call.daemon.wait() == 1
        assert call.daemon.event("stopped")["calls_cut_off"] == 1


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_at_once(start: Start, tmp_path: Path, second: signal.Signals) -> None:
    with InFlight(start, tmp_path) as call:
        call.daemon.process.send_signal(signal.SIGINT)
        call.daemon.event("draining")
        call.daemon.process.send_signal(second)
        assert call.daemon.wait() == 128 + second


@TRANSPORTS
def test_overload_says_when_to_come_back(start: Start, tmp_path: Path, transport: str) -> None:
    flags = ("--transport", transport, "--max-concurrent-calls", "1", "--prometheus-listen", "127.0.0.1:0")
    with InFlight(start, tmp_path, *flags) as call:
        page = call.daemon.event("metrics page")["address"]
        error, details = error_of(lambda: call.stub.CountMessages(small()))
        assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert details[0].reason == "OVERLOADED"
        assert details[1].retry_delay.seconds == 1
        assert scrape(page)["tokencount_server_active_calls"] == 1
        call.go()
        assert call.answer.result().count.tokens
        assert call.stub.CountMessages(small()).count.tokens
        rejected = 'tokencount_server_rejected_calls_total{tokencount_reason="server_calls"}'
        assert scrape(page)[rejected] == 1
        assert scrape(page)["tokencount_server_active_calls"] == 0


def test_records_survive_a_restart(start: Start, tmp_path: Path) -> None:
    data = ("--data-dir", str(tmp_path / "kept"))
    record = wire.RecordActualRequest(typed=small().typed, status=STATUS_SUCCEEDED)
    record.usage.input_tokens = 77
    daemon = start(*data)
    with daemon.channel() as channel:
        assert TokenCounterServiceStub(channel).RecordActual(record).learned
    assert daemon.stop() == 0
    daemon = start(*data)
    with daemon.channel() as channel:
        answer = TokenCounterServiceStub(channel).EstimateConversation(
            wire.EstimateConversationRequest(typed=small().typed)
        )
    assert (answer.count.source, answer.count.tokens) == (wire.SOURCE_EXACT, 77)


def test_a_taken_port_is_an_error(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        daemon = start("--listen", address)
        assert daemon.wait() == 1
    assert daemon.first_line == ""
    assert f"can't listen on {address}" in daemon.log.read_text()


def test_a_second_daemon_on_one_port_is_an_error(start: Start) -> None:
    assert start("--listen", start().address).wait() == 1


def test_a_directory_that_is_none(start: Start, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    daemon = start("--data-dir", str(tmp_path / "file"))
    assert daemon.wait() == 1
    assert "can't open the store" in daemon.log.read_text()


def test_a_data_directory_belongs_to_one_process(start: Start, tmp_path: Path) -> None:
    data = ("--data-dir", str(tmp_path / "one"))
    first = start(*data)
    second = start(*data)
    assert second.wait() == 1
    assert "can't open the store" in second.log.read_text()
    assert first.stop() == 0
