"""A tracer that sends to the service, as the documentation of the exporters has it."""

import os

from opentelemetry import propagate, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor


def start_tracing() -> TracerProvider:
    exporter = OTLPSpanExporter(
        endpoint=os.environ["SUMTREE_URL"] + "/otel/v1/traces",
        headers={"wandb-api-key": os.environ["SUMTREE_KEY"], "project_id": os.environ["PROJECT"]},
    )
    provider = TracerProvider(resource=Resource.create({"service.name": "played"}))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return provider


def send_traceparent(request) -> None:
    """A hook of the HTTP client: with `traceparent` the gateway's calls join the trace."""
    propagate.inject(request.headers)


async def send_traceparent_later(request) -> None:
    send_traceparent(request)


def project_header() -> dict:
    """What the option `project` of OpenAI's client sends, for clients that have no such option."""
    project = os.environ.get("OPENAI_PROJECT")
    return {"OpenAI-Project": project} if project else {}


def openai_options() -> dict:
    """What a client of OpenAI's needs to ask the provider or, with a project, the gateway."""
    from openai import DefaultHttpxClient

    return options() | {"http_client": DefaultHttpxClient(event_hooks={"request": [send_traceparent]})}


def async_openai_options() -> dict:
    from openai import DefaultAsyncHttpxClient

    hooks = {"request": [send_traceparent_later]}
    return options() | {"http_client": DefaultAsyncHttpxClient(event_hooks=hooks)}


def options() -> dict:
    return {
        "base_url": os.environ["OPENAI_BASE_URL"],
        "api_key": os.environ["OPENAI_API_KEY"],
        "project": os.environ.get("OPENAI_PROJECT"),
    }
