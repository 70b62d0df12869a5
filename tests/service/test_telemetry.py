"""Metrics and spans on the wire: a real OTLP receiver, a real scrape."""

import queue
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest
from conftest import Start
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2_grpc as metrics_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as traces
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as traces_grpc
from support import PATIENCE, SERVICE, Daemon, error_of, scrape

from tokencount.v1 import prompt_pb2 as pb
from tokencount.v1 import token_counter_service_pb2 as wire
from tokencount.v1.token_counter_service_pb2_grpc import TokenCounterServiceStub
from tokencount.v1.usage_pb2 import STATUS_SUCCEEDED

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PROMPT = pb.Prompt(model="gpt-4o", messages=[pb.Message(role=pb.ROLE_USER, parts=[pb.Part(text="hello")])])


class Collector(metrics_grpc.MetricsServiceServicer, traces_grpc.TraceServiceServicer):
    """An OpenTelemetry collector that keeps what it gets."""

    def __init__(self) -> None:
        self.metrics: queue.Queue[Any] = queue.Queue()
        self.spans: queue.Queue[Any] = queue.Queue()
        self._server = grpc.server(ThreadPoolExecutor(2))
        grpc_module: Any = metrics_grpc
        grpc_module.add_MetricsServiceServicer_to_server(self, self._server)
        port = self._server.add_insecure_port("127.0.0.1:0")
        handler = grpc.unary_unary_rpc_method_handler(
            self.export_spans,
            traces.ExportTraceServiceRequest.FromString,
            traces.ExportTraceServiceResponse.SerializeToString,
        )
        name = "opentelemetry.proto.collector.trace.v1.TraceService"
        generic = grpc.method_handlers_generic_handler(name, {"Export": handler})
        self._server.add_generic_rpc_handlers((generic,))
        self.url = f"http://127.0.0.1:{port}"
        self._server.start()

    def Export(self, request: Any, context: Any) -> metrics.ExportMetricsServiceResponse:  # noqa: N802
        self.metrics.put(request)
        return metrics.ExportMetricsServiceResponse()

    def export_spans(self, request: Any, context: Any) -> traces.ExportTraceServiceResponse:
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                for span in scope.spans:
                    self.spans.put(span)
        return traces.ExportTraceServiceResponse()

    def stop(self) -> None:
        self._server.stop(None)


@pytest.fixture
def collector() -> Iterator[Collector]:
    collector = Collector()
    yield collector
    collector.stop()


def call(daemon: Daemon, sampled: str = "01") -> None:
    """A count, a failed count, an estimate and a record."""
    carried = (("traceparent", f"00-{TRACE}-{PARENT}-{sampled}"),)
    with daemon.channel() as channel:
        stub = TokenCounterServiceStub(channel)
        stub.CountMessages(wire.CountMessagesRequest(typed=PROMPT), metadata=carried)
        error_of(lambda: stub.CountMessages(wire.CountMessagesRequest(), metadata=carried))
        answer = stub.EstimateConversation(wire.EstimateConversationRequest(typed=PROMPT), metadata=carried)
        record = wire.RecordActualRequest(base=answer.count.prefix_key, status=STATUS_SUCCEEDED)
        record.usage.input_tokens = 8
        stub.RecordActual(record, metadata=carried)


def attributes(point: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in point.attributes}


def test_metrics_reach_a_collector(start: Start, collector: Collector) -> None:
    daemon = start("--otlp-endpoint", collector.url, OTEL_RESOURCE_ATTRIBUTES="deployment.environment=test")
    call(daemon)
    assert daemon.stop() == 0
    request = collector.metrics.get(timeout=PATIENCE)
    found = {
        metric.name: metric
        for resource in request.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }
    resource = attributes(request.resource_metrics[-1].resource)
    assert (resource["service.name"], resource["deployment.environment"]) == ("tokencountd", "test")
    duration = found["rpc.server.call.duration"]
    assert (duration.unit, duration.histogram.aggregation_temporality) == ("s", 2)
    counts = {
        (attributes(point)["rpc.method"], attributes(point)["rpc.response.status_code"]): point
        for point in duration.histogram.data_points
    }
    assert {key: point.count for key, point in counts.items()} == {
        (f"{SERVICE}/CountMessages", "OK"): 1,
        (f"{SERVICE}/CountMessages", "INVALID_ARGUMENT"): 1,
        (f"{SERVICE}/EstimateConversation", "OK"): 1,
        (f"{SERVICE}/RecordActual", "OK"): 1,
    }
    for point in counts.values():
        assert len(point.bucket_counts) == len(point.explicit_bounds) + 1
        assert sum(point.bucket_counts) == point.count
        assert not point.HasField("min")
        assert 0 < point.sum < PATIENCE
        assert 0 < point.start_time_unix_nano < point.time_unix_nano
    sources = found["tokencount.answers"].sum
    assert sources.is_monotonic
    assert {attributes(point)["tokencount.source"] for point in sources.data_points} == {"estimated"}
    assert found["tokencount.server.active_calls"].gauge.data_points[0].as_double == 0


def test_a_page_for_prometheus(start: Start) -> None:
    daemon = start("--prometheus-listen", "127.0.0.1:0")
    call(daemon)
    page = daemon.event("metrics page")["address"]
    for _ in range(2):
        samples = scrape(page)
        counted = {
            name: value
            for name, value in samples.items()
            if name.startswith("rpc_server_call_duration_seconds_count")
        }
        assert sum(counted.values()) == 4
        assert any('rpc_response_status_code="INVALID_ARGUMENT"' in name for name in counted)
        assert samples["tokencount_server_active_calls"] == 0
        assert samples["process_resident_memory_bytes"] > 0
        assert any(name.startswith("tokencount_answers_total{") for name in samples)
    assert daemon.stop() == 0


def test_spans_continue_the_callers_trace(start: Start, collector: Collector) -> None:
    daemon = start("--otlp-endpoint", collector.url, "--trace-ratio", "0.000001")
    call(daemon)
    assert daemon.stop() == 0
    spans = [collector.spans.get(timeout=PATIENCE) for _ in range(4)]
    assert {span.trace_id.hex() for span in spans} == {TRACE}
    assert {span.parent_span_id.hex() for span in spans} == {PARENT}
    assert {span.kind for span in spans} == {2}
    assert [(span.name, attributes(span)["rpc.response.status_code"]) for span in spans] == [
        (f"{SERVICE}/CountMessages", "OK"),
        (f"{SERVICE}/CountMessages", "INVALID_ARGUMENT"),
        (f"{SERVICE}/EstimateConversation", "OK"),
        (f"{SERVICE}/RecordActual", "OK"),
    ]
    for span in spans:
        assert attributes(span)["rpc.system.name"] == "grpc"
        # A wrong request is the caller's error, not the server's.
        assert span.status.code == 0
        assert "error.type" not in attributes(span)


@pytest.mark.parametrize(("ratio", "sampled", "spans"), [("0", "01", 0), ("0.5", "00", 0)])
def test_what_is_not_sampled_is_not_sent(
    start: Start, collector: Collector, ratio: str, sampled: str, spans: int
) -> None:
    daemon = start("--otlp-endpoint", collector.url, "--trace-ratio", ratio)
    call(daemon, sampled)
    assert daemon.stop() == 0
    assert collector.spans.qsize() == spans


@pytest.mark.parametrize(
    "flag", [("--otlp-endpoint", "http://127.0.0.1:1"), ("--prometheus-listen", "127.0.0.1:0")]
)
def test_an_exporter_without_the_extra_is_an_error(
    start: Start, tmp_path: Path, flag: tuple[str, str]
) -> None:
    shadow = tmp_path / "shadow" / "opentelemetry"
    shadow.mkdir(parents=True)
    (shadow / "__init__.py").write_text("raise ImportError('not installed', name='opentelemetry')")
    daemon = start(*flag, PYTHONPATH=str(shadow.parent))
    assert daemon.wait() == 2
    assert f"{flag[0]}: needs the telemetry extra" in daemon.log.read_text()


def test_without_an_exporter_nothing_is_imported() -> None:
    code = (
        "import sys; from tokencountd import lifecycle, settings, telemetry;"
        "telemetry.Telemetry(settings.Settings());"
        "sys.exit(any(name.startswith('opentelemetry') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_ratio_without_a_collector_is_an_error(start: Start) -> None:
    daemon = start("--trace-ratio", "1")
    assert daemon.wait() == 2
    assert "--trace-ratio: needs --otlp-endpoint" in daemon.log.read_text()
