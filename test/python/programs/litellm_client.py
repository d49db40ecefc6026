import os

import httpx
import litellm
from otel import project_header, send_traceparent

os.environ["OTEL_EXPORTER"] = "otlp_http"
os.environ["OTEL_EXPORTER_OTLP_PROTOCOL"] = "http/protobuf"
os.environ["OTEL_ENDPOINT"] = os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = os.environ["SUMTREE_URL"] + "/otel"
headers = "wandb-api-key=" + os.environ["SUMTREE_KEY"] + ",project_id=" + os.environ["PROJECT"]
os.environ["OTEL_HEADERS"] = os.environ["OTEL_EXPORTER_OTLP_HEADERS"] = headers
litellm.callbacks = ["otel"]

QUESTION = [{"role": "user", "content": "What is the answer?"}]
litellm.client_session = httpx.Client(event_hooks={"request": [send_traceparent]})
options = {
    "api_base": os.environ["OPENAI_BASE_URL"],
    "api_key": os.environ["OPENAI_API_KEY"],
    "extra_headers": project_header(),
}
litellm.completion(model="openai/gpt-4o", messages=QUESTION, **options)
for _ in litellm.completion(
    model="openai/gpt-4o", messages=QUESTION, stream=True, stream_options={"include_usage": True}, **options
):
    pass

import time

from opentelemetry import trace

time.sleep(1)
provider = trace.get_tracer_provider()
provider.force_flush()
