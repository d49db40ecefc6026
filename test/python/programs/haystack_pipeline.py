import os

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

from otel import start_tracing

provider = start_tracing()

from openinference.instrumentation.haystack import HaystackInstrumentor

HaystackInstrumentor().instrument(tracer_provider=provider)

from ask_haystack import ask

ask()
provider.shutdown()
