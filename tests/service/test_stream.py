"""A data set over one stream: in order, errors among the answers, no faster than it is read."""

import itertools
import threading
from collections.abc import Iterator

import grpc
from conftest import Start
from support import PATIENCE, Daemon, error_of, words

from tokencount.v1 import prompt_pb2 as pb
from tokencount.v1 import token_counter_service_pb2 as wire
from tokencount.v1.token_counter_service_pb2_grpc import TokenCounterServiceStub


def request(name: str, text: str, model: str = "gpt-4o") -> wire.CountMessagesStreamRequest:
    message = pb.Message(role=pb.ROLE_USER, parts=[pb.Part(text=text)])
    prompt = pb.Prompt(model=model, messages=[message])
    return wire.CountMessagesStreamRequest(id=name, count_messages=wire.CountMessagesRequest(typed=prompt))


def test_answers_come_in_the_order_of_requests(stub: TokenCounterServiceStub) -> None:
    # Long ones among short ones: they are counted on other threads.
    sizes = [20_000 if number % 7 == 3 else number for number in range(60)]
    sent = [request(str(number), words(size)) for number, size in enumerate(sizes)]
    answers = list(stub.CountMessagesStream(iter(sent), timeout=PATIENCE))
    assert [answer.id for answer in answers] == [row.id for row in sent]
    alone = [stub.CountMessages(row.count_messages).count.tokens for row in sent]
    assert [answer.count.tokens for answer in answers] == alone


def test_a_wrong_request_is_one_answer(stub: TokenCounterServiceStub) -> None:
    sent = [
        request("right", "hello"),
        request("no model", "hello", model=""),
        wire.CountMessagesStreamRequest(id="nothing"),
        request("right again", "hello"),
    ]
    answers = list(stub.CountMessagesStream(iter(sent), timeout=PATIENCE))
    kinds = [answer.WhichOneof("result") for answer in answers]
    assert kinds == ["count", "error", "error", "count"]
    assert (answers[1].error.field, answers[2].error.field) == (
        "typed.model",
        "count_messages",
    )
    assert {answer.error.code for answer in answers[1:3]} == {grpc.StatusCode.INVALID_ARGUMENT.value[0]}
    assert answers[1].error.reason == wire.ERROR_REASON_MISSING_FIELD


def test_nothing_in_nothing_out(stub: TokenCounterServiceStub) -> None:
    assert list(stub.CountMessagesStream(iter(()), timeout=PATIENCE)) == []


def one_and_wait(more: threading.Event) -> Iterator[wire.CountMessagesStreamRequest]:
    """One request, and no end until `more` is set."""
    yield request("a", "hello")
    more.wait(PATIENCE)


def test_a_caller_that_does_not_read_is_not_read(daemon: Daemon) -> None:
    taken = 0
    more = threading.Event()

    def endless() -> Iterator[wire.CountMessagesStreamRequest]:
        nonlocal taken
        # Answers bring the id back, so they are as large as the requests.
        big = "x" * (64 << 10)
        for number in itertools.count():
            taken = number
            if number == 2_000:
                more.set()
                return
            yield request(big, "hello")

    # With its probe of the bandwidth the client opens windows of hundreds of megabytes by itself.
    with grpc.insecure_channel(daemon.address, [("grpc.http2.bdp_probe", 0)]) as channel:
        answers = TokenCounterServiceStub(channel).CountMessagesStream(endless(), timeout=PATIENCE)
        next(iter(answers))
        # 128 MB of them fit no window.
        assert not more.wait(1.0), taken
        answers.cancel()


def test_a_large_request_ends_the_stream(start: Start) -> None:
    daemon = start("--max-message-bytes", "1KiB")
    with daemon.channel() as channel:
        stub = TokenCounterServiceStub(channel)
        sent = [request("a", "hello"), request("b", words(1000))]
        answers = iter(stub.CountMessagesStream(iter(sent), timeout=PATIENCE))
        assert next(answers).id == "a"
        error, details = error_of(lambda: next(answers))
        assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert details[0].reason == "TOO_LARGE"


def test_a_limit_slows_a_stream_and_does_not_end_it(start: Start) -> None:
    daemon = start("--tenant-calls-per-second", "20")
    with daemon.channel() as channel:
        sent = [request(str(number), "hello") for number in range(30)]
        answers = TokenCounterServiceStub(channel).CountMessagesStream(iter(sent), timeout=PATIENCE)
        assert len(list(answers)) == 30


def test_a_drain_ends_streams_after_what_was_read(start: Start) -> None:
    daemon = start("--grace-period", "1s")
    more = threading.Event()
    with daemon.channel() as channel:
        stub = TokenCounterServiceStub(channel)
        answers = iter(stub.CountMessagesStream(one_and_wait(more), timeout=PATIENCE))
        assert next(answers).id == "a"
        daemon.process.terminate()
        error, _ = error_of(lambda: next(answers))
        assert error.code() == grpc.StatusCode.UNAVAILABLE
        more.set()
    assert daemon.wait() == 0


def test_idle_compressed_streams_keep_nobody_out(start: Start) -> None:
    daemon = start("--max-message-bytes", "1MiB")
    done = threading.Event()
    with daemon.channel() as channel:
        stub = TokenCounterServiceStub(channel)
        streams = [
            stub.CountMessagesStream(one_and_wait(done), timeout=PATIENCE, compression=grpc.Compression.Gzip)
            for _ in range(20)
        ]
        for stream in streams:
            assert next(iter(stream)).id == "a"
        alone = request("", words(100)).count_messages
        assert stub.CountMessages(alone, timeout=PATIENCE, compression=grpc.Compression.Gzip).count.tokens
        done.set()
