import os

from otel import start_tracing

provider = start_tracing()

from google import genai
from google.genai.types import HttpOptions
from opentelemetry import trace
from opentelemetry.instrumentation.google_generativeai import GoogleGenerativeAiInstrumentor

GoogleGenerativeAiInstrumentor().instrument()

client = genai.Client(api_key="played", http_options=HttpOptions(base_url=os.environ["PROVIDER_URL"]))
with trace.get_tracer("app").start_as_current_span("app"):
    client.models.generate_content(model="gemini-2.5-flash", contents="What is the answer?")
    for _ in client.models.generate_content_stream(model="gemini-2.5-flash", contents="And the question?"):
        pass
provider.shutdown()
