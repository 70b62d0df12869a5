"""A record that was acknowledged outlives the server, however that ends."""

import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
from conftest import Start
from support import PATIENCE

from tokencount.v1 import prompt_pb2 as pb
from tokencount.v1 import token_counter_service_pb2 as wire
from tokencount.v1 import usage_pb2
from tokencount.v1.token_counter_service_pb2_grpc import TokenCounterServiceStub

ENOUGH = 1000
"""Acknowledged records after which the server is killed."""
CALLERS = 32


def prompt(number: int) -> pb.Prompt:
    text = f"Parcel {number} was left with the neighbour on the second floor; when do they come home?"
    return pb.Prompt(model="gpt-4o", messages=[pb.Message(role=pb.ROLE_USER, parts=[pb.Part(text=text)])])


def billed(number: int) -> int:
    """What the provider is said to have billed: near the estimate, and not the same for all."""
    return 24 + number % 7


class Recorder:
    """Records prompt after prompt until the server is gone."""

    def __init__(self, stub: TokenCounterServiceStub) -> None:
        self.acknowledged: set[int] = set()
        self.failed: set[grpc.StatusCode] = set()
        self.enough = threading.Event()
        self._stub = stub
        self._lock = threading.Lock()

    def record(self, number: int) -> None:
        if self.failed:
            return
        usage = usage_pb2.Usage(input_tokens=billed(number))
        request = wire.RecordActualRequest(
            typed=prompt(number), status=usage_pb2.STATUS_SUCCEEDED, usage=usage
        )
        try:
            answer = self._stub.RecordActual(request, timeout=PATIENCE)
        except grpc.RpcError as error:
            self.failed.add(error.code())
            return
        assert answer.learned
        with self._lock:
            self.acknowledged.add(number)
            if len(self.acknowledged) == ENOUGH:
                self.enough.set()


def test_acknowledged_records_survive_kill_9(start: Start, tmp_path: Path) -> None:
    directory = ("--data-dir", str(tmp_path / "kept"))
    daemon = start(*directory)
    with daemon.channel() as channel, ThreadPoolExecutor(CALLERS) as pool:
        recorder = Recorder(TokenCounterServiceStub(channel))
        done = pool.map(recorder.record, range(10 * ENOUGH))
        assert recorder.enough.wait(PATIENCE)
        daemon.process.kill()
        list(done)
    assert daemon.wait() == -signal.SIGKILL
    # The kill came while records were being written.
    assert recorder.failed == {grpc.StatusCode.UNAVAILABLE}

    with start(*directory).channel() as channel, ThreadPoolExecutor(CALLERS) as pool:
        stub = TokenCounterServiceStub(channel)
        requests = [wire.EstimateConversationRequest(typed=prompt(n)) for n in sorted(recorder.acknowledged)]
        counts = [answer.count for answer in pool.map(stub.EstimateConversation, requests)]
    found = [(count.source, count.tokens) for count in counts]
    assert found == [(wire.SOURCE_EXACT, billed(number)) for number in sorted(recorder.acknowledged)]
