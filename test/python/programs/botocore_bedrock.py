import os

from otel import start_tracing

provider = start_tracing()

import boto3
from opentelemetry import trace
from opentelemetry.instrumentation.botocore import BotocoreInstrumentor

BotocoreInstrumentor().instrument()

client = boto3.client("bedrock-runtime", region_name="us-east-1", endpoint_url=os.environ["PROVIDER_URL"],
    aws_access_key_id="played", aws_secret_access_key="played")
with trace.get_tracer("app").start_as_current_span("app"):
    for model in ("us.amazon.nova-pro-v1:0", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"):
        client.converse(modelId=model, messages=[{"role": "user", "content": [{"text": "What is the answer?"}]}])
provider.shutdown()
