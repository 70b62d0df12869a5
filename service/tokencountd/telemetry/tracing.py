"""Sampled spans, one for each call, that continue the caller's `traceparent`."""

import grpc
import grpc.aio
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from tokencountd.handlers import SERVICE, AsyncHandler
from tokencountd.telemetry.metrics import resource

_CARRIED = ("traceparent", "tracestate")
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
    """Sends spans to a collector: those whose caller's trace is sampled, and a share of the rest."""

    def __init__(self, endpoint: str, ratio: float) -> None:
        self._provider = TracerProvider(
            sampler=ParentBased(TraceIdRatioBased(ratio)), resource=resource(), shutdown_on_exit=False
        )
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
        self._tracer = self._provider.get_tracer("tokencountd")
        self._propagator = TraceContextTextMapPropagator()

    def wrap(self, method: str, handler: AsyncHandler) -> AsyncHandler:
        """The handler with a span around each call."""
        name = f"{SERVICE}/{method}"
        attributes = {"rpc.system.name": "grpc", "rpc.method": name}

        async def traced(request: bytes, context: "grpc.aio.ServicerContext[bytes, bytes]") -> bytes:
            carrier = {key: value for key, value in context.invocation_metadata() or () if key in _CARRIED}
            with self._tracer.start_as_current_span(
                name,
                self._propagator.extract(carrier),
                trace.SpanKind.SERVER,
                attributes,
                record_exception=False,
                set_status_on_exception=False,
            ) as span:
                code: grpc.StatusCode | None = grpc.StatusCode.CANCELLED
                try:
                    answer = await handler(request, context)
                    code = grpc.StatusCode.OK
                    return answer
                except grpc.aio.AbortError:
                    code = context.code()
                    raise
                finally:
                    _finish(span, code or grpc.StatusCode.UNKNOWN)

        return traced

    def shutdown(self) -> None:
        """Sends what is left."""
        self._provider.shutdown()


def _finish(span: trace.Span, code: grpc.StatusCode) -> None:
    span.set_attribute("rpc.response.status_code", code.name)
    if code in _ERRORS:
        span.set_attribute("error.type", code.name)
        span.set_status(trace.StatusCode.ERROR)
