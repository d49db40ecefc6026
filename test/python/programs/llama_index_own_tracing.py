from otel import start_tracing

provider = start_tracing()

from llama_index.observability.otel import LlamaIndexOpenTelemetry

LlamaIndexOpenTelemetry(tracer_provider=provider).start_registering()

from ask_llama_index import ask

ask()
provider.shutdown()
