import os

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace.export import BatchSpanProcessor

import logfire

exporter = OTLPSpanExporter(
    endpoint=os.environ["SUMTREE_URL"] + "/otel/v1/traces",
    headers={"wandb-api-key": os.environ["SUMTREE_KEY"], "project_id": os.environ["PROJECT"]},
)
logfire.configure(
    send_to_logfire=False, console=False, additional_span_processors=[BatchSpanProcessor(exporter)]
)
logfire.instrument_openai()
os.environ["ANTHROPIC_OPEN_TELEMETRY"] = "false"
logfire.instrument_anthropic()

from ask import ask_anthropic, ask_openai

with logfire.span("app"):
    ask_openai()
    ask_anthropic()
logfire.shutdown()
