"""Connections that misbehave beside a client that doesn't: it must notice nothing, and memory must stay."""

import contextlib
import resource
import zlib
from collections.abc import Generator, Iterator

from benchmarks import processes, prompts
from benchmarks.ghz import Load
from benchmarks.processes import Server
from benchmarks.results import Result
from benchmarks.soak import frames
from benchmarks.soak.client import GoodClient
from benchmarks.soak.figures import MEGABYTE, failures, progress, watched
from benchmarks.soak.frames import Connection
from tokencount.v1 import CountMessagesRequest

SPARE_FILES = 200
RESETS_AT_ONCE = 50
"""Below what a server may take for an attack, so that it has to deal with them all."""
RESETS_IN_A_FLOOD = 1000
BOMB = 64 << 20
LARGEST = 32 << 20
"""The largest message that a server takes unless it is told otherwise."""
UNPACKED = 30 << 20
"""Somewhat less."""


def idle_streams(connections: int = 1000, rounds: int = 5, calls: int = 1000) -> Iterator[Result]:
    """Connections that open a call each and send nothing: the latency of a good client beside them."""
    _allow_files(connections + SPARE_FILES)
    request = CountMessagesRequest(provider_request=prompts.provider_request(prompts.messages(2, 100)))
    load = Load("CountMessages", [request], calls, concurrency=4, rate=500)
    before: list[float] = []
    beside: list[float] = []
    with processes.tokencountd() as server:
        load.send(server)
        for number in range(rounds):
            before.append(load.send(server)[0].p99)
            with idle(server, connections):
                beside.append(load.send(server)[0].p99)
            progress(f"{number + 1} of {rounds} rounds with {connections} idle streams")
    name = f"{connections} idle streams: a good client's latency"
    yield Result(name=name, unit="ms, p99", rounds=beside, peers={"before": before}, limits={"before": 2})


@contextlib.contextmanager
def idle(server: Server, connections: int) -> Generator[None]:
    """Holds so many connections, each with a call that was opened and has no request."""
    with contextlib.ExitStack() as stack:
        for _ in range(connections):
            connection = stack.enter_context(Connection(server.address))
            connection.send(frames.request(1, "CountMessages"))
            if not connection.settled():
                raise ConnectionError("the server has closed a connection that did nothing")
        yield


def rapid_resets(resets: int = 100_000) -> Iterator[Result]:
    """Calls that are reset as soon as they are opened, half of them in floods."""
    name = f"{resets:,} rapid resets"
    with processes.tokencountd() as server:
        with GoodClient(server.address, threads=2) as client, watched(server) as memory:
            for at_once in (RESETS_AT_ONCE, RESETS_IN_A_FLOOD):
                reset(server, resets // 2, at_once)
        yield failures(name, client)
        yield memory.result(name, limit=50)


def reset(server: Server, resets: int, at_once: int) -> None:
    """Opens and resets calls, over another connection whenever the server closes one."""
    done = 0
    while done < resets:
        with Connection(server.address) as connection, contextlib.suppress(ConnectionError):
            open_ = True
            first = 1
            while open_ and done < resets:
                streams = range(first, first + 2 * at_once, 2)
                pairs = (frames.request(stream, "CountMessages") + frames.reset(stream) for stream in streams)
                # Counted before: what a server closes the connection on was sent as well.
                done += at_once
                first += 2 * at_once
                connection.send(b"".join(pairs))
                open_ = connection.settled()
        progress(f"{done:,} of {resets:,} resets, {at_once} at once")


def bombs(at_once: int = 32) -> Iterator[Result]:
    """Small messages that are large when they are unpacked: too large, and many just not too large."""
    for encoding, bomb in (("gzip", _gzip(bytes(BOMB))), ("zstd", zstd_zeros(BOMB))):
        with processes.tokencountd() as server, watched(server) as memory:
            refused = _refused(server, encoding, [bomb])
        name = f"A {encoding} bomb of {BOMB >> 20} MiB"
        yield Result(name=f"{name}: taken", unit="calls", rounds=[1 - refused], peers={}, limit=0)
        # A full buffer, and one of twice its size that it is copied to.
        yield memory.result(name, limit=3 * LARGEST / MEGABYTE)
    prompt = prompts.provider_request([{"role": "user", "content": " " * UNPACKED}])
    packed = _gzip(CountMessagesRequest(provider_request=prompt).SerializeToString())
    with processes.tokencountd() as server, watched(server) as memory:
        _refused(server, "gzip", [packed] * at_once)
    # Four at a time are unpacked: each in a buffer of up to twice its size, as what came out, and as
    # what was read from it, with what the allocator keeps. Not bounded, it would be 32 times that.
    yield memory.result(f"{at_once} calls that unpack to {UNPACKED >> 20} MiB", limit=768)


def _refused(server: Server, encoding: str, bodies: list[bytes]) -> int:
    """How many of the messages, sent at once, are refused: their answer's headers are its end."""
    streams = {1 + 2 * number: body for number, body in enumerate(bodies)}
    with Connection(server.address) as connection:
        for stream, body in streams.items():
            connection.send(frames.request(stream, "CountMessages", grpc_encoding=encoding))
            connection.send(frames.message(stream, body, compressed=True))
        refused = 0
        for frame in connection.frames():
            if frame.kind == frames.HEADERS and frame.stream in streams:
                del streams[frame.stream]
                refused += bool(frame.flags & frames.END_STREAM)
            if not streams:
                return refused
    raise ConnectionError("the server has closed the connection without an answer")


def _gzip(data: bytes) -> bytes:
    return zlib.compress(data, level=9, wbits=31)


def zstd_zeros(size: int) -> bytes:
    """That many zeros, packed by hand: runs of 128 KiB, of 4 bytes each (RFC 8878)."""
    run = 128 << 10
    # A frame with neither checksum nor size, and a window of 128 KiB.
    header = bytes.fromhex("28b52ffd") + bytes([0, 7 << 3])
    block, last = run << 3 | 1 << 1, 1
    return header + (block.to_bytes(3, "little") + b"\0") * (size // run) + last.to_bytes(3, "little")


def _allow_files(count: int) -> None:
    """Raises what this process and the servers it starts may open. Raises `ValueError` if it may not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, max(hard, count)))
