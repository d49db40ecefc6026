from otel import openai_options, start_tracing

provider = start_tracing()

from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

LlamaIndexInstrumentor().instrument(tracer_provider=provider)

from ask_llama_index import ask

ask()
provider.shutdown()
