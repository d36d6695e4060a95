"""Prometheus metrics of one server."""

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from ctx_core.serving.service import OperationTimes

# Seconds: from a cache hit to the operation timeout.
LATENCY_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)


class Metrics:
    """The calls of each tool with outcome and duration, and the gauges of the service."""

    def __init__(
        self,
        service: str,
        gauges: Mapping[str, Callable[[], float]],
        operation_times: OperationTimes = dict,
    ) -> None:
        self._registry = CollectorRegistry()
        labels = {"service": service}
        self._calls = Counter(
            "ctx_tool_calls", "Tool calls.", ["service", "tool", "outcome"], registry=self._registry
        )
        self._seconds = Histogram(
            "ctx_tool_call_seconds",
            "Duration of tool calls.",
            ["service", "tool"],
            registry=self._registry,
            buckets=LATENCY_BUCKETS,
        )
        self._service = service
        for name, read in gauges.items():
            gauge = Gauge(f"ctx_{name}", name.replace("_", " "), labels, registry=self._registry)
            gauge.labels(**labels).set_function(read)
        self._registry.register(_EngineCollector(service, operation_times))

    def observe(self, tool: str, outcome: str, seconds: float) -> None:
        self._calls.labels(self._service, tool, outcome).inc()
        self._seconds.labels(self._service, tool).observe(seconds)

    def render(self) -> bytes:
        return generate_latest(self._registry)


class _EngineCollector(Collector):
    """Reads the calls to Qdrant when they are asked for."""

    def __init__(self, service: str, operation_times: OperationTimes) -> None:
        self._service = service
        self._operation_times = operation_times

    def collect(self) -> Iterator[CounterMetricFamily]:
        labels = ["service", "operation"]
        calls = CounterMetricFamily("ctx_engine_calls", "Calls to Qdrant.", labels=labels)
        failures = CounterMetricFamily("ctx_engine_failures", "Failed ones.", labels=labels)
        seconds = CounterMetricFamily("ctx_engine_seconds", "Time in them.", labels=labels)
        for operation, times in self._operation_times().items():
            calls.add_metric([self._service, operation], times.calls)
            failures.add_metric([self._service, operation], times.failures)
            seconds.add_metric([self._service, operation], times.seconds)
        yield from (calls, failures, seconds)
