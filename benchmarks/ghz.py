"""Runs ghz, the load generator, against a server on this machine."""

import json
import math
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from google.protobuf.message import Message
from google.protobuf.proto import serialize_length_prefixed

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
    server_cpu: float
    """CPU time of the server for one call, in microseconds."""


def run(server: Server, arguments: Sequence[str]) -> Report:
    """Runs ghz, and raises `LoadError` unless every call was answered with OK."""
    if not _GHZ.exists():
        raise LoadError(f"{_GHZ} is missing: `make {_GHZ.relative_to(ROOT)}` builds it")
    command = [str(_GHZ), "--insecure", "--format=json", *arguments, server.address]
    before = server.cpu_seconds()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    cpu = server.cpu_seconds() - before
    if done.returncode:
        raise LoadError(done.stderr or done.stdout)
    report = json.loads(done.stdout)
    if set(report["statusCodeDistribution"]) != {"OK"}:
        raise LoadError(f"{report['statusCodeDistribution']} {report['errorDistribution']}")
    calls: int = report["count"]
    latencies = {row["percentage"]: row["latency"] / 1e6 for row in report["latencyDistribution"]}
    return Report(calls, report["rps"], latencies[50], latencies[99], cpu / calls * 1e6)


@dataclass(frozen=True)
class Load:
    """What is sent, and how. Each call takes the next of the messages, round and round."""

    method: str
    messages: Sequence[Message]
    calls: int
    concurrency: int = CONCURRENCY
    """Calls in flight."""
    rate: float = 0
    """Calls per second; 0 is as many as are answered."""

    def send(self, *servers: Server) -> list[Report]:
        """Sends it to each server in turn."""
        encoded = BytesIO()
        for message in self.messages:
            serialize_length_prefixed(message, encoded)
        with tempfile.NamedTemporaryFile() as file:
            Path(file.name).write_bytes(encoded.getvalue())
            return [run(server, [*self._arguments(), f"--binary-file={file.name}"]) for server in servers]

    def _arguments(self) -> list[str]:
        return [
            f"--protoset={_CONTRACT}",
            f"--call={_SERVICE}.{self.method}",
            f"--concurrency={min(self.concurrency, self.calls)}",
            f"--total={self.calls}",
            f"--rps={math.ceil(self.rate)}",
            "--disable-template-functions",
            "--disable-template-data",
        ]
