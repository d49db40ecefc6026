from otel import openai_options, start_tracing

provider = start_tracing()

from opentelemetry import trace
from opentelemetry.instrumentation.openai import OpenAIInstrumentor

OpenAIInstrumentor().instrument()

import os

from openai import OpenAI

from ask import ask_anthropic, ask_openai

with trace.get_tracer("app").start_as_current_span("app"):
    ask_openai(OpenAI(**openai_options()))
    if os.environ["WAY"] == "alone":
        from opentelemetry.instrumentation.anthropic import AnthropicInstrumentor

        AnthropicInstrumentor().instrument()
        ask_anthropic()
provider.shutdown()
