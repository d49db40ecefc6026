import os

os.environ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = os.environ["SUMTREE_URL"] + "/otel/v1/traces"
os.environ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"] = "http/protobuf"
os.environ["OTEL_EXPORTER_OTLP_TRACES_HEADERS"] = (
    "wandb-api-key=" + os.environ["SUMTREE_KEY"] + ",project_id=" + os.environ["PROJECT"]
)
os.environ["ANTHROPIC_OPEN_TELEMETRY"] = "false"

import mlflow

mlflow.openai.autolog()
mlflow.anthropic.autolog()

from ask import ask_anthropic, ask_openai

with mlflow.start_span("app"):
    ask_openai()
    ask_anthropic()
mlflow.flush_trace_async_logging(terminate=True)


