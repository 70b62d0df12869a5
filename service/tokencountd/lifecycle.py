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
from pathlib import Path

from tokencountd import _core, access, logs, transports
from tokencountd.settings import Settings, SettingsError
from tokencountd.telemetry import Telemetry


class StartError(Exception):
    """The daemon can't start. `str()` says why."""


def serve(settings: Settings) -> int:
    """Runs the daemon until it is told to stop. Returns the exit status."""
    logs.configure(settings.log_level)
    anonymous = access.anonymous(settings)
    telemetry = Telemetry(settings)
    engine = open_engine(settings)
    files = access.Files(settings)
    service = _service(settings, engine, anonymous)
    try:
        cut_off = asyncio.run(_run(settings, engine, service, telemetry, files))
    finally:
        telemetry.shutdown()
        engine.flush()
    logs.event("stopped", calls_cut_off=cut_off)
    if cut_off:
        # Their threads are still in the engine, and Python would wait for them.
        sys.stderr.flush()
        os._exit(1)
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
            profiles_dir=str(settings.profiles.parent) if settings.profiles else "",
            store_bytes=settings.store_bytes,
            tenant_store_bytes=settings.tenant_store_bytes,
            time_to_live=settings.time_to_live,
            cache_bytes=settings.cache_bytes,
        )
    except OSError as error:
        raise StartError(f"can't open the store in {directory}: {error}") from error
    except ValueError as error:
        raise StartError(f"{settings.profiles or 'profiles'}: {error}") from error


def _service(settings: Settings, engine: _core.Engine, anonymous: bool) -> _core.Service:
    service = _core.Service(
        engine,
        anonymous=anonymous,
        max_calls=settings.max_concurrent_calls,
        max_message_bytes=settings.max_message_bytes,
        tenant_calls=settings.tenant_concurrent_calls,
        tenant_call_rate=settings.tenant_calls_per_second,
        tenant_byte_rate=settings.tenant_bytes_per_second,
        trace_ratio=settings.trace_ratio if settings.otlp_endpoint and settings.trace_ratio else None,
    )
    service.set_tokens(access.tokens(settings))
    return service


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise StartError(f"can't read {path}: {error.strerror}") from error


async def _run(
    settings: Settings,
    engine: _core.Engine,
    service: _core.Service,
    telemetry: Telemetry,
    files: access.Files,
) -> int:
    """Serves until a signal comes. Returns how many calls were cut off."""
    stopped = _stop_signal()
    transport = _listen(settings, service)
    telemetry.start(engine, service)
    watch = asyncio.create_task(files.watch(service.set_tokens, transport.set_tls))
    await transport.start()
    address = f"{settings.listen.rpartition(':')[0]}:{transport.port}"
    print(f"tokencountd listening on {address}", flush=True)
    logs.event("ready", address=address, transport=settings.transport, data_dir=str(settings.store_dir()))
    name = await stopped
    watch.cancel()
    logs.event("draining", signal=name, calls=service.active(), grace_period=settings.grace_period)
    return await transport.drain()


def _listen(settings: Settings, service: _core.Service) -> transports.Transport:
    try:
        return transports.make(settings, service, access.tls(settings))
    except OSError as error:
        raise StartError(f"can't listen on {settings.listen}: {error}") from error
    except SettingsError:
        raise
    except ValueError as error:
        raise StartError(f"can't use TLS: {error}") from error


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
