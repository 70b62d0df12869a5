"""Runs ghz, the load generator, against a server on this machine."""

import json
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.message import Message

from benchmarks.processes import Server
from benchmarks.results import ROOT

CONCURRENCY = 32
"""Calls in flight."""

_GHZ = ROOT / ".work" / "bin" / "ghz"
_CONTRACT = ROOT / "proto" / "tokencount.binpb"
_SERVICE = "tokencount.v1.TokenCounterService"


class LoadError(Exception):
    """Calls failed, or the load generator did."""


@dataclass(frozen=True)
class Report:
    """What the load generator saw. Times in milliseconds."""

    calls: int
    calls_per_second: float
    p50: float
    p99: float


def run(arguments: Sequence[str]) -> Report:
    """Runs ghz, and raises `LoadError` unless every call was answered with OK."""
    if not _GHZ.exists():
        raise LoadError(f"{_GHZ} is missing: `make {_GHZ.relative_to(ROOT)}` builds it")
    command = [str(_GHZ), "--insecure", "--format=json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LoadError(done.stderr or done.stdout)
    report = json.loads(done.stdout)
    if set(report["statusCodeDistribution"]) != {"OK"}:
        raise LoadError(f"{report['statusCodeDistribution']} {report['errorDistribution']}")
    latencies = {row["percentage"]: row["latency"] / 1e6 for row in report["latencyDistribution"]}
    return Report(report["count"], report["rps"], latencies[50], latencies[99])


def cpu_per_call(server: Server, method: str, request: Message, calls: int) -> float:
    """CPU time of the server for one call, in microseconds, with `CONCURRENCY` calls in flight."""
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(request.SerializeToString())
        before = server.cpu_seconds()
        report = run(
            [
                f"--protoset={_CONTRACT}",
                f"--call={_SERVICE}.{method}",
                f"--binary-file={file.name}",
                f"--concurrency={CONCURRENCY}",
                f"--total={calls}",
                "--disable-template-functions",
                "--disable-template-data",
                server.address,
            ]
        )
        return (server.cpu_seconds() - before) / report.calls * 1e6
