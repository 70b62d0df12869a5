"""`tokencountd health`: asks a server whether it serves, for the health check of a container."""

import argparse
from typing import TYPE_CHECKING, Any

from tokencountd import settings
from tokencountd.commands import CommandError
from tokencountd.settings import Settings

if TYPE_CHECKING:
    from tokencountd.commands import Subparsers

_TIMEOUT = 2.0


def add(commands: "Subparsers") -> None:
    """Adds the command."""
    about = "Asks the server at --listen by grpc.health.v1; the exit status is 0 if it serves, else 1."
    parser = commands.add_parser("health", help="ask a server whether it serves", description=about)
    settings.add_arguments(parser, ["listen"])
    parser.set_defaults(run=_run)


def _run(_flags: argparse.Namespace, values: Settings) -> int:
    # Imported here: the other commands need no gRPC, and start faster without it.
    import grpc
    from grpc_health.v1 import health_pb2, health_pb2_grpc

    # What a server on every address listens on is reached by the loopback.
    address = values.listen.replace("0.0.0.0:", "127.0.0.1:").replace("[::]:", "[::1]:")
    with grpc.insecure_channel(address) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        try:
            status = stub.Check(health_pb2.HealthCheckRequest(), timeout=_TIMEOUT).status
        except grpc.RpcError as error:
            raise CommandError(f"{address} doesn't answer: {error.code().name}") from error
    if status != health_pb2.HealthCheckResponse.SERVING:
        raise CommandError(f"{address} is not serving")
    print(f"{address} serves")
    return 0
