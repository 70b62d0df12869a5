"""The engine's metrics as OpenTelemetry's.

The engine keeps finished aggregates, and the SDK has no public way to take a histogram that was
aggregated elsewhere. What it has is the readers' hook `_receive_metrics`, documented as the one to
override, and public types for the data. So the readers here add the engine's metrics to every
collection. Recording each value in Python instead would put it on the path of every call.
"""

import dataclasses
import time
from collections.abc import Callable
from typing import Any, cast

from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricReader,
    MetricsData,
    NumberDataPoint,
    PeriodicExportingMetricReader,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from tokencountd import _core

_SCOPE = InstrumentationScope("tokencountd.engine")
_CUMULATIVE = AggregationTemporality.CUMULATIVE


class EngineMetrics:
    """Reads the metrics of one engine, which counts since `start`."""

    def __init__(self, read: Callable[[], list[_core.Metric]]) -> None:
        self._read = read
        self._start = time.time_ns()

    def add_to(self, collected: MetricsData) -> MetricsData:
        """The collected metrics and the engine's, under one resource: exporters merge no two."""
        now = time.time_ns()
        metrics = [self._metric(metric, now) for metric in self._read()]
        engine = ScopeMetrics(scope=_SCOPE, metrics=metrics, schema_url="")
        [ours] = collected.resource_metrics
        both = dataclasses.replace(ours, scope_metrics=[*ours.scope_metrics, engine])
        return MetricsData(resource_metrics=[both])

    def _metric(self, metric: _core.Metric, now: int) -> Metric:
        data: Sum | Gauge | Histogram
        if metric.kind == "histogram":
            data = Histogram([self._histogram(metric, point, now) for point in metric.points], _CUMULATIVE)
        else:
            points = [NumberDataPoint(dict(point[0]), self._start, now, point[1]) for point in metric.points]
            data = Gauge(points) if metric.kind == "gauge" else Sum(points, _CUMULATIVE, is_monotonic=True)
        return Metric(metric.name, metric.description, metric.unit, data)

    def _histogram(
        self, metric: _core.Metric, point: tuple[dict[str, str], float, list[int]], now: int
    ) -> HistogramDataPoint:
        attributes, total, counts = point
        # Optional on the wire, and not kept by the engine.
        unknown = cast(float, None)
        return HistogramDataPoint(
            attributes=dict(attributes),
            start_time_unix_nano=self._start,
            time_unix_nano=now,
            count=sum(counts),
            sum=total,
            bucket_counts=counts,
            explicit_bounds=metric.boundaries,
            min=unknown,
            max=unknown,
        )


class _WithEngine(MetricReader):
    """A reader whose collections hold the engine's metrics too."""

    def __init__(self, engine: EngineMetrics, *arguments: Any, **options: Any) -> None:
        self._engine = engine
        super().__init__(*arguments, **options)

    def _receive_metrics(
        self, metrics_data: MetricsData, timeout_millis: float = 10_000, **kwargs: Any
    ) -> None:
        collected = self._engine.add_to(metrics_data)
        super()._receive_metrics(collected, timeout_millis, **kwargs)  # pyright: ignore[reportUnknownMemberType]


class OtlpReader(_WithEngine, PeriodicExportingMetricReader):
    """Sends metrics to a collector, every minute or as `OTEL_METRIC_EXPORT_INTERVAL` says."""


class PrometheusReader(_WithEngine, PrometheusMetricReader):
    """Gives metrics to a Prometheus registry when it is scraped."""
