"""The service's methods as grpcio handlers over bytes: the transport carries, the service answers.

No message is parsed here: measured, (de)serialising in Python is a sixth of a call's cost.
"""

import asyncio
import functools
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import Executor
from typing import Any, NamedTuple

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

_UNARY = ("CountMessages", "EstimateConversation", "RecordActual")
_STREAM = "CountMessagesStream"
_WAITS = "RecordActual"
"""Waits for the disk, so it never runs on the event loop."""

_NO_DEADLINE = 365 * 86400.0
_PATIENCE = 0.1
"""Seconds until a request of a stream that is over a limit tries again."""
_LIMITED = ("OVERLOADED", "QUOTA_EXCEEDED")
_OK, _CANCELLED = 0, grpc.StatusCode.CANCELLED.value[0]
# These end the call or the program: they are not the engine's failures.
_NOT_OURS = (asyncio.CancelledError, KeyboardInterrupt, SystemExit, GeneratorExit)

AsyncHandler = Callable[[bytes, "grpc.aio.ServicerContext[bytes, bytes]"], Awaitable[bytes]]
SyncHandler = Callable[[bytes, grpc.ServicerContext], bytes]


class Caller(NamedTuple):
    """What a call says of its caller."""

    authorization: bytes | None
    certificate: bytes | None
    traceparent: bytes | None


def _caller(context: Any) -> Caller:
    metadata: dict[str, str | bytes] = dict(context.invocation_metadata() or ())
    authorization, traceparent = (_bytes(metadata.get(key)) for key in ("authorization", "traceparent"))
    certificate = context.auth_context().get("x509_pem_cert", (None,))[0]
    return Caller(authorization, certificate, traceparent)


def _bytes(value: str | bytes | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value


def _timeout(context: Any) -> float | None:
    """The time a call has. Without a deadline grpcio says None here and some centuries there."""
    remaining: float | None = context.time_remaining()
    return None if remaining is None or remaining > _NO_DEADLINE else remaining


def _refusal(error: BaseException, method: str) -> Refusal:
    """The status of a call that raised. What isn't a `StatusError` is a defect and is logged."""
    if isinstance(error, _core.StatusError):
        return statuses.of_error(error)
    logs.event("call failed", logging.ERROR, exc_info=error, method=method)
    return statuses.INTERNAL


def _admit(service: _core.Service, caller: Caller, request: bytes) -> _core.Pass:
    return service.admit(len(request), caller.authorization, caller.certificate)


def asynchronous(service: _core.Service, threads: Executor) -> dict[str, Any]:
    """Handlers for `grpc.aio` by method name: small prompts on the loop, the rest on `threads`."""
    handlers: dict[str, Any] = {name: _asynchronous(service, name, threads) for name in _UNARY}
    handlers[_STREAM] = _asynchronous_stream(service, threads)
    return handlers


def _asynchronous(service: _core.Service, name: str, threads: Executor) -> AsyncHandler:
    method = f"{SERVICE}/{name}"

    async def handle(request: bytes, context: "grpc.aio.ServicerContext[bytes, bytes]") -> bytes:
        caller = _caller(context)
        span = service.begin_span(method, caller.traceparent)
        code = _CANCELLED
        try:
            passed = _admit(service, caller, request)
            answer = await _answer(passed, method, request, _timeout(context), threads)
            code = _OK
            return answer
        except _NOT_OURS:
            raise
        # Also what isn't an `Exception`, such as a panic: in a handler it would hang the caller.
        except BaseException as error:  # noqa: BLE001
            refusal = _refusal(error, name)
            code = refusal.code.value[0]
        finally:
            service.end_span(span, code)
        return await context.abort(*refusal)

    return handle


async def _answer(
    passed: _core.Pass, method: str, request: bytes, seconds: float | None, threads: Executor
) -> bytes:
    """Answers an admitted request. It stays admitted until its thread is done, also if its caller leaves."""
    if len(request) <= INLINE_BYTES and not method.endswith(_WAITS):
        try:
            return passed.answer(method, request, seconds)
        finally:
            passed.leave()
    try:
        future = threads.submit(passed.answer, method, request, seconds)
    except RuntimeError:
        passed.leave()
        raise
    future.add_done_callback(lambda _: passed.leave())
    return await asyncio.wrap_future(future)


def _asynchronous_stream(service: _core.Service, threads: Executor) -> Any:
    method = f"{SERVICE}/{_STREAM}"

    async def handle(requests: AsyncIterator[bytes], context: Any) -> AsyncIterator[bytes]:
        caller = _caller(context)
        try:
            async for request in requests:
                # A limit has no event to wait for.
                while (passed := _admit_or_wait(service, caller, request)) is None:  # noqa: ASYNC110
                    await asyncio.sleep(_PATIENCE)
                yield await _answer(passed, method, request, _timeout(context), threads)
        except _NOT_OURS:
            raise
        except BaseException as error:  # noqa: BLE001
            await context.abort(*_refusal(error, _STREAM))

    return handle


def _admit_or_wait(service: _core.Service, caller: Caller, request: bytes) -> _core.Pass | None:
    """The pass; None if a limit says to try again."""
    try:
        return _admit(service, caller, request)
    except _core.StatusError as error:
        if error.reason in _LIMITED:
            return None
        raise


def synchronous(service: _core.Service) -> dict[str, Any]:
    """Handlers for a `grpc.server`, which runs each call on a thread of its own pool."""
    handlers: dict[str, Any] = {name: functools.partial(_synchronous, service, name) for name in _UNARY}
    handlers[_STREAM] = functools.partial(_synchronous_stream, service)
    return handlers


def _synchronous(service: _core.Service, name: str, request: bytes, context: Any) -> bytes:
    method = f"{SERVICE}/{name}"
    try:
        caller = _caller(context)
        return _answer_now(_admit(service, caller, request), method, request, context)
    except _NOT_OURS:
        raise
    except BaseException as error:  # noqa: BLE001
        return _abort(context, _refusal(error, name))


def _synchronous_stream(service: _core.Service, requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
    method = f"{SERVICE}/{_STREAM}"
    caller = _caller(context)
    try:
        for request in requests:
            while (passed := _admit_or_wait(service, caller, request)) is None:
                time.sleep(_PATIENCE)
            yield _answer_now(passed, method, request, context)
    except _NOT_OURS:
        raise
    except BaseException as error:  # noqa: BLE001
        _abort(context, _refusal(error, _STREAM))


def _answer_now(passed: _core.Pass, method: str, request: bytes, context: Any) -> bytes:
    try:
        return passed.answer(method, request, _timeout(context))
    finally:
        passed.leave()


def _abort(context: Any, refusal: Refusal) -> Any:
    context.set_trailing_metadata(refusal.trailer)
    return context.abort(refusal.code, refusal.message)


def register(server: Any, handlers: dict[str, Any]) -> None:
    """Adds the methods to a server of either kind, without (de)serialisers."""
    methods: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {
        name: grpc.unary_unary_rpc_method_handler(handlers[name]) for name in _UNARY
    }
    methods[_STREAM] = grpc.stream_stream_rpc_method_handler(handlers[_STREAM])
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, methods),))
    server.add_registered_method_handlers(SERVICE, methods)
