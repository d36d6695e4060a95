"""OpenTelemetry traces of tool calls, where an endpoint is configured.

The MCP library makes a span of each call; without a provider they cost nothing and go nowhere.
"""

import importlib.util

from pydantic import AnyHttpUrl

from ctx_core.errors import SettingsInvalid

SERVICE = "ctx"
TRACES_PATH = "/v1/traces"


def configure_tracing(endpoint: AnyHttpUrl | None) -> None:
    """Send spans to the endpoint, in the background. Raises SettingsInvalid without the packages.

    An endpoint that does not answer is logged, and delays nothing.
    """
    if endpoint is None:
        return
    if importlib.util.find_spec("opentelemetry.sdk") is None:
        raise SettingsInvalid(
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, but the OpenTelemetry packages are missing: "
            "pip install 'ctx-engine[otel]', or unset it."
        )
    from opentelemetry import trace  # noqa: PLC0415 - where it is configured only
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
        OTLPSpanExporter,
    )
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: SERVICE}))
    url = str(endpoint).rstrip("/") + TRACES_PATH
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=url)))
    trace.set_tracer_provider(provider)
