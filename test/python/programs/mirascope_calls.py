from otel import openai_options, start_tracing

provider = start_tracing()

from mirascope import llm, ops

ops.configure(tracer_provider=provider)
ops.instrument_llm()

options = openai_options()
llm.register_provider("openai:completions", scope="openai/", base_url=options["base_url"], api_key=options["api_key"])


@ops.trace
@llm.call("openai/gpt-4o:completions")
def ask(question: str):
    return question


ask("What is the answer?")
for _ in llm.Model("openai/gpt-4o:completions").stream("And the question?").text_stream():
    pass
provider.shutdown()
