import os

os.environ.update(LANGFUSE_PUBLIC_KEY="pk-lf-played", LANGFUSE_SECRET_KEY="sk-lf-played", LANGFUSE_HOST="http://127.0.0.1:9")

from otel import openai_options, start_tracing

provider = start_tracing()

from langfuse import Langfuse, observe

Langfuse(tracer_provider=provider, tracing_enabled=True)

from langfuse.openai import OpenAI

MODEL = "gpt-4o"
QUESTION = [{"role": "user", "content": "What is the answer?"}]
client = OpenAI(**openai_options())


@observe()
def app() -> None:
    client.chat.completions.create(model=MODEL, messages=QUESTION)
    for _ in client.chat.completions.create(
        model=MODEL, messages=QUESTION, stream=True, stream_options={"include_usage": True}
    ):
        pass


app()
provider.force_flush()
