"""Spans of sampled calls, taken from the service and sent to a collector.

Which calls are sampled, and when they began and ended, the service knows itself, so that calls need
no Python for it; here its spans become OpenTelemetry's.
"""

import threading

import grpc
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, TraceFlags
from opentelemetry.trace.status import Status, StatusCode

from tokencountd import _core
from tokencountd.statuses import CODES
from tokencountd.telemetry.metrics import resource

_INTERVAL = 0.5
_SCOPE = InstrumentationScope("tokencountd")
# The codes that the semantic conventions call errors of a server; the others are the caller's.
_ERRORS = frozenset(
    (
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.UNIMPLEMENTED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DATA_LOSS,
    )
)


class Traces:
    """Sends spans to a collector, on a thread of its own."""

    def __init__(self, endpoint: str) -> None:
        self._processor = BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint))
        self._resource = resource()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, service: _core.Service) -> None:
        """Takes the service's spans from now on."""
        self._thread = threading.Thread(target=self._run, args=(service,), name="spans", daemon=True)
        self._thread.start()

    def _run(self, service: _core.Service) -> None:
        ended = False
        while not ended:
            # What came before the end is taken after it.
            ended = self._ended.wait(_INTERVAL)
            for span in service.take_spans():
                self._processor.on_end(self._readable(span))

    def _readable(self, span: _core.Span) -> ReadableSpan:
        code = CODES[span.code]
        attributes = {
            "rpc.system.name": "grpc",
            "rpc.method": span.method,
            "rpc.response.status_code": code.name,
        }
        failed = code in _ERRORS
        if failed:
            attributes["error.type"] = code.name
        return ReadableSpan(
            name=span.method,
            context=_context(span.trace_id, span.span_id, is_remote=False),
            parent=_context(span.trace_id, span.parent_id, is_remote=True) if span.parent_id else None,
            resource=self._resource,
            attributes=attributes,
            kind=SpanKind.SERVER,
            status=Status(StatusCode.ERROR if failed else StatusCode.UNSET),
            start_time=span.start,
            end_time=span.end,
            instrumentation_scope=_SCOPE,
        )

    def shutdown(self) -> None:
        """Sends what is left."""
        self._ended.set()
        if self._thread:
            self._thread.join()
        self._processor.shutdown()


def _context(trace_id: int, span_id: int, *, is_remote: bool) -> SpanContext:
    return SpanContext(trace_id, span_id, is_remote, TraceFlags(TraceFlags.SAMPLED))
