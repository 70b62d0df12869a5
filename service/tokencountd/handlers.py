"""The service's methods as gRPC handlers over bytes: the transport carries, the engine answers.

No message is parsed here: measured, (de)serialising in Python is a sixth of a call's cost.
"""

import asyncio
import functools
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Protocol

import grpc
import grpc.aio

from tokencount.v1 import token_counter_service_pb2
from tokencountd import _core, logs, statuses
from tokencountd.statuses import Refusal

SERVICE: str = token_counter_service_pb2.DESCRIPTOR.services_by_name["TokenCounterService"].full_name
"""The full name of the service, "tokencount.v1.TokenCounterService"."""

INLINE_BYTES = 16 << 10
"""Requests up to this size are counted on the event loop, larger ones on a thread.

Measured on the 2-core development machine: the way to a thread and back takes 150 µs of CPU, a
prompt of this size 80 µs if its messages were counted before and 4 ms if not, which is how long
other calls may have to wait for the loop.
"""

_NO_DEADLINE = 365 * 86400.0
# These end the call or the program: they are not the engine's failures.
_NOT_OURS = (asyncio.CancelledError, KeyboardInterrupt, SystemExit, GeneratorExit)

EngineCall = Callable[[bytes, str, float | None], bytes]
AsyncHandler = Callable[[bytes, "grpc.aio.ServicerContext[bytes, bytes]"], Awaitable[bytes]]
SyncHandler = Callable[[bytes, grpc.ServicerContext], bytes]


class Tracing(Protocol):
    """Gives a traced form of a handler; see `tracing.py`."""

    def wrap(self, method: str, handler: AsyncHandler) -> AsyncHandler:
        """The handler with a span around each call."""
        ...


@dataclass(frozen=True)
class _Method:
    name: str
    call: Callable[[_core.Engine], EngineCall]
    waits: bool
    """It waits for the disk, so it never runs on the event loop."""


_METHODS = (
    _Method("CountMessages", lambda engine: engine.count_messages, waits=False),
    _Method("EstimateConversation", lambda engine: engine.estimate_conversation, waits=False),
    _Method("RecordActual", lambda engine: engine.record_actual, waits=True),
)


@dataclass
class Admission:
    """How many calls are in flight, and how many were turned away."""

    max_calls: int
    max_bytes: int
    active: int = 0
    rejected: int = 0
    _lock: Lock = field(default_factory=Lock)

    def enter(self, request: bytes) -> Refusal | None:
        """Lets a call in, or says why not. Whoever was let in must `leave`."""
        if len(request) > self.max_bytes:
            return statuses.too_large(len(request), self.max_bytes)
        with self._lock:
            if self.active >= self.max_calls:
                self.rejected += 1
                return statuses.OVERLOADED
            self.active += 1
        return None

    def leave(self) -> None:
        """The call is over."""
        with self._lock:
            self.active -= 1


def _timeout(remaining: float | None) -> float | None:
    """The time a call has. Without a deadline grpcio says None here and some centuries there."""
    return None if remaining is None or remaining > _NO_DEADLINE else remaining


def _refusal(error: BaseException, method: str) -> Refusal:
    """The status of a call that raised. What isn't a `StatusError` is a defect and is logged."""
    if isinstance(error, _core.StatusError):
        return statuses.of_error(error)
    logs.event("call failed", logging.ERROR, exc_info=error, method=method)
    return statuses.INTERNAL


def asynchronous(
    engine: _core.Engine, admission: Admission, threads: Executor, tracing: Tracing | None = None
) -> dict[str, AsyncHandler]:
    """Handlers for `grpc.aio` by method name: small prompts on the loop, the rest on `threads`."""
    handlers: dict[str, AsyncHandler] = {}
    for method in _METHODS:
        inline = -1 if method.waits else INLINE_BYTES
        handler = _asynchronous(method.name, method.call(engine), admission, threads, inline)
        handlers[method.name] = tracing.wrap(method.name, handler) if tracing else handler
    return handlers


def _asynchronous(
    name: str, call: EngineCall, admission: Admission, threads: Executor, inline: int
) -> AsyncHandler:
    async def handle(request: bytes, context: "grpc.aio.ServicerContext[bytes, bytes]") -> bytes:
        refusal = admission.enter(request)
        if refusal is None:
            timeout = _timeout(context.time_remaining())
            try:
                if len(request) > inline:
                    return await asyncio.wrap_future(_submit(threads, admission, call, request, timeout))
                try:
                    return call(request, "", timeout)
                finally:
                    admission.leave()
            except _NOT_OURS:
                raise
            # Also what isn't an `Exception`, such as a panic: in a handler it would hang the caller.
            except BaseException as error:  # noqa: BLE001
                refusal = _refusal(error, name)
        return await context.abort(*refusal)

    return handle


def _submit(
    threads: Executor, admission: Admission, call: EngineCall, request: bytes, timeout: float | None
) -> "Future[bytes]":
    """Runs a call on a thread. It stays admitted until the thread is done, also if its caller leaves."""
    try:
        future = threads.submit(call, request, "", timeout)
    except RuntimeError:
        admission.leave()
        raise
    future.add_done_callback(lambda _: admission.leave())
    return future


def synchronous(engine: _core.Engine, admission: Admission) -> dict[str, SyncHandler]:
    """Handlers for a `grpc.server`, which runs each call on a thread of its own pool."""
    return {
        method.name: functools.partial(_synchronous, method.name, method.call(engine), admission)
        for method in _METHODS
    }


def _synchronous(
    name: str, call: EngineCall, admission: Admission, request: bytes, context: grpc.ServicerContext
) -> bytes:
    refusal = admission.enter(request)
    if refusal is None:
        try:
            return call(request, "", _timeout(context.time_remaining()))
        except _NOT_OURS:
            raise
        except BaseException as error:  # noqa: BLE001
            refusal = _refusal(error, name)
        finally:
            admission.leave()
    context.set_trailing_metadata(refusal.trailer)
    return context.abort(refusal.code, refusal.message)


def register(server: Any, handlers: dict[str, Any]) -> None:
    """Adds the methods to a server of either kind, without (de)serialisers."""
    methods: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {
        name: grpc.unary_unary_rpc_method_handler(handler) for name, handler in handlers.items()
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, methods),))
    server.add_registered_method_handlers(SERVICE, methods)
