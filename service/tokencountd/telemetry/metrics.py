"""Export of metrics: to a collector, on a page, or both."""

from collections.abc import Callable
from importlib.metadata import version

from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from prometheus_client import CollectorRegistry, ProcessCollector, start_http_server

from tokencountd import _core, logs
from tokencountd.settings import Settings, SettingsError
from tokencountd.telemetry.bridge import EngineMetrics, OtlpReader, PrometheusReader


def resource() -> Resource:
    """Who we are; `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` win."""
    ours = Resource({"service.name": "tokencountd", "service.version": version("tokencountd")})
    return Resource.create().merge(ours).merge(OTELResourceDetector().detect())


def start(settings: Settings, engine: _core.Engine, service: _core.Service) -> Callable[[], None]:
    """Starts the exporters that are configured. Returns what stops them."""
    ours = resource()
    source = EngineMetrics(lambda: engine.metrics() + service.metrics())
    readers: list[MetricReader] = []
    stop_page: Callable[[], None] | None = None
    if settings.otlp_endpoint:
        readers.append(OtlpReader(source, OTLPMetricExporter(endpoint=settings.otlp_endpoint)))
    if settings.prometheus_listen:
        registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        readers.append(PrometheusReader(source, registry=registry, scope_info_enabled=False))
        stop_page = _page(settings.prometheus_listen, registry)
    provider = MeterProvider(metric_readers=readers, resource=ours, shutdown_on_exit=False)
    # The SDK collects nothing, and so the engine's metrics neither, where it has no instrument.
    info = provider.get_meter("tokencountd").create_gauge(
        "tokencount.server.info", "1", "Version and transport of the server; always 1"
    )
    info.set(1, {"version": version("tokencountd"), "transport": settings.transport})

    def stop() -> None:
        provider.shutdown(timeout_millis=5_000)
        if stop_page:
            stop_page()

    return stop


def _page(listen: str, registry: CollectorRegistry) -> Callable[[], None]:
    host, _, port = listen.rpartition(":")
    try:
        http, thread = start_http_server(int(port), host.strip("[]"), registry)
    except OSError as error:
        raise SettingsError(f"--prometheus-listen: can't listen on {listen}: {error.strerror}") from error
    logs.event("metrics page", address=f"{host}:{http.server_port}")

    def stop() -> None:
        http.shutdown()
        http.server_close()
        thread.join()

    return stop
