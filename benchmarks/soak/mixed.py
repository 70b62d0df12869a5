"""Minutes of everything at once: programs that call, random bytes in place of messages, of frames and of
connections, calls that are cancelled or out of time. The server must live, answer, and not grow.
"""

import statistics
import time
from collections.abc import Iterator

from benchmarks import processes
from benchmarks.results import Result
from benchmarks.soak.client import GoodClient
from benchmarks.soak.figures import MEGABYTE, failures, progress
from benchmarks.soak.vandal import Vandal

FLAGS = ("--cache-bytes", "4MiB", "--store-bytes", "64MiB")
"""Small enough to be full within the first minute."""
FLAT = 1.1
"""The memory in the last tenth, as a multiple of that in the second: medians, for it goes up and down."""


def run(minutes: float = 10) -> Iterator[Result]:
    """Holds the server under it for that long."""
    end = time.monotonic() + minutes * 60
    name = f"{minutes:g} minutes of mixed load"
    samples: list[float] = []
    with processes.tokencountd(*FLAGS) as server:
        with GoodClient(server.address, threads=2) as client, Vandal(server) as vandal:
            while (now := time.monotonic()) < end and server.process.poll() is None:
                time.sleep(0.1)
                samples.append(server.resident_bytes() / MEGABYTE)
                progress(f"{end - now:.0f} s left, {client.calls:,} calls, {vandal.attempts:,} nonsense ones")
        dead = server.process.poll() is not None
    for answer, times in vandal.wrong.most_common(3):
        print(f"{times} x {answer}")
    counts = (client.calls, vandal.attempts)
    for what, number in zip(("calls", "nonsense calls and connections"), counts, strict=True):
        yield Result(name=f"{name}: {what}", unit="", rounds=[number], peers={})
    yield failures(name, client)
    wrong = vandal.wrong.total()
    yield Result(name=f"{name}: wrong answers to nonsense", unit="calls", rounds=[wrong], peers={}, limit=0)
    yield Result(name=f"{name}: crashes", unit="", rounds=[dead], peers={}, limit=0)
    peer, tenth = "after the first tenth", max(1, len(samples) // 10)
    yield Result(
        name=f"{name}: memory at the end",
        unit="MB",
        rounds=[statistics.median(samples[-tenth:])],
        peers={peer: [statistics.median(samples[tenth : 2 * tenth])]},
        limits={peer: FLAT},
    )
