from otel import openai_options, start_tracing

provider = start_tracing()

from opentelemetry import trace
from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor

OpenAIInstrumentor().instrument()

from openai import OpenAI

from ask import ask_openai

with trace.get_tracer("app").start_as_current_span("app"):
    ask_openai(OpenAI(**openai_options()))
provider.shutdown()
