"""The daemon's life: open the engine, serve, drain at a signal, flush, end.

SIGTERM or SIGINT: health turns NOT_SERVING, no new call is taken, calls in flight get the grace
period, the store is flushed, exit status 0 (1 if calls had to be cut off). A second signal ends
the process at once.
"""

import asyncio
import logging
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from tokencountd import _core, logs, server
from tokencountd.settings import Settings
from tokencountd.telemetry import Telemetry

if TYPE_CHECKING:
    import grpc.aio


class StartError(Exception):
    """The daemon can't start. `str()` says why."""


def serve(settings: Settings) -> int:
    """Runs the daemon until it is told to stop. Returns the exit status."""
    logs.configure(settings.log_level)
    telemetry = Telemetry(settings)
    engine = open_engine(settings)
    threads = ThreadPoolExecutor(settings.threads, thread_name_prefix="tokencountd")
    try:
        cut_off = asyncio.run(_run(settings, engine, threads, telemetry))
    finally:
        telemetry.shutdown()
        engine.flush()
    logs.event("stopped", calls_cut_off=cut_off)
    if cut_off:
        # Their threads are still in the engine, and Python would wait for them.
        sys.stderr.flush()
        os._exit(1)
    threads.shutdown()
    engine.close()
    return 0


def open_engine(settings: Settings) -> _core.Engine:
    """The engine over the store of the settings. Raises `StartError` if it can't be had."""
    directory = settings.store_dir()
    secret = _read(settings.secret_file).strip() if settings.secret_file else b""
    profiles = _read(settings.profiles).decode(errors="replace") if settings.profiles else None
    try:
        directory.mkdir(parents=True, exist_ok=True)
        return _core.Engine(
            str(directory),
            secret=secret,
            profiles=profiles,
            store_bytes=settings.store_bytes,
            tenant_store_bytes=settings.tenant_store_bytes,
            time_to_live=settings.time_to_live,
            cache_bytes=settings.cache_bytes,
        )
    except OSError as error:
        raise StartError(f"can't open the store in {directory}: {error}") from error
    except ValueError as error:
        raise StartError(f"{settings.profiles or 'profiles'}: {error}") from error


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise StartError(f"can't read {path}: {error.strerror}") from error


async def _run(
    settings: Settings, engine: _core.Engine, threads: ThreadPoolExecutor, telemetry: Telemetry
) -> int:
    """Serves until a signal comes. Returns how many calls were cut off."""
    transport, health, admission = server.build(settings, engine, threads, telemetry.tracing)
    address = _bind(transport, settings.listen)
    telemetry.start(engine, admission)
    stopped = _stop_signal()
    await transport.start()
    print(f"tokencountd listening on {address}", flush=True)
    logs.event("ready", address=address, data_dir=str(settings.store_dir()))
    name = await stopped
    logs.event("draining", signal=name, calls=admission.active, grace_period=settings.grace_period)
    health.drain()
    await transport.stop(settings.grace_period)
    return admission.active


def _bind(transport: "grpc.aio.Server", listen: str) -> str:
    try:
        port = transport.add_insecure_port(listen)
    except RuntimeError as error:
        raise StartError(f"can't listen on {listen}: {error}") from error
    return f"{listen.rpartition(':')[0]}:{port}"


def _stop_signal() -> "asyncio.Future[str]":
    """Done with the name of the first signal; the second one ends the process."""
    loop = asyncio.get_running_loop()
    stopped: asyncio.Future[str] = loop.create_future()

    def receive(number: signal.Signals) -> None:
        if stopped.done():
            logs.event("stopped at once", logging.WARNING, signal=number.name)
            os._exit(128 + number)
        stopped.set_result(number.name)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, receive, number)
    return stopped
