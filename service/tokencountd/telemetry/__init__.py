"""Telemetry by OpenTelemetry: off unless an exporter is configured, and then nothing is imported.

Metrics of the engine are kept in Rust and read when they are exported, so that a call pays nothing
for them here (see `bridge`). So are the spans of sampled calls (see `tracing`).
"""

from collections.abc import Callable

from tokencountd import _core
from tokencountd.settings import Settings, SettingsError

_EXTRA = "needs the telemetry extra: pip install 'tokencountd[telemetry]'"


class Telemetry:
    """The exporters of one daemon. Raises `SettingsError` if one is set but can't be had."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stops: list[Callable[[], object]] = []
        self._start_spans: Callable[[_core.Service], object] | None = None
        if settings.otlp_endpoint is None and settings.prometheus_listen is None:
            if settings.trace_ratio:
                raise SettingsError("--trace-ratio: needs --otlp-endpoint, where spans are sent to")
            return
        try:
            from tokencountd.telemetry import metrics, tracing
        except ImportError as error:
            origin = "--otlp-endpoint" if settings.otlp_endpoint else "--prometheus-listen"
            raise SettingsError(f"{origin}: {_EXTRA} ({error.name} is missing)") from error
        self._metrics = metrics
        if settings.otlp_endpoint and settings.trace_ratio:
            traces = tracing.Traces(settings.otlp_endpoint)
            self._start_spans = traces.start
            self._stops.append(traces.shutdown)

    def start(self, engine: _core.Engine, service: _core.Service) -> None:
        """Starts to export metrics and spans."""
        if self._settings.otlp_endpoint or self._settings.prometheus_listen:
            self._stops.append(self._metrics.start(self._settings, engine, service))
        if self._start_spans:
            self._start_spans(service)

    def shutdown(self) -> None:
        """Sends what is left and stops."""
        while self._stops:
            self._stops.pop()()
