import os

from otel import openai_options, start_tracing

os.environ["LANGSMITH_TRACING"] = "true"
os.environ["LANGSMITH_OTEL_ENABLED"] = "true"
os.environ["LANGSMITH_OTEL_ONLY"] = "true"
os.environ["LANGSMITH_API_KEY"] = "none"

provider = start_tracing()

from langchain.agents import create_agent
from langchain_core.tracers.langchain import wait_for_all_tracers
from langchain_openai import ChatOpenAI
from langsmith import Client, traceable
from langsmith.wrappers import wrap_openai
from openai import OpenAI

from ask import ask_openai

options = openai_options()
project = options.pop("project")
client = Client()
model = ChatOpenAI(model="gpt-4o", stream_usage=True, **options)
openai = wrap_openai(OpenAI(**options), tracing_extra={"client": client})


@traceable(client=client, metadata={"session_id": "s-1"})
def inner(question: str):
    return model.invoke(question)


@traceable(client=client, metadata={"session_id": "s-1"})
def outer():
    for _ in model.stream("And the answer?"):
        pass
    ask_openai(openai)
    return inner("What is the answer?")


def weather(city: str) -> str:
    """The weather of a city."""
    return f"{city}: sunny"


outer()
create_agent(model, tools=[weather]).invoke({"messages": [{"role": "user", "content": "The weather?"}]})
wait_for_all_tracers()
client.flush()
provider.shutdown()
