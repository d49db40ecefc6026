from otel import async_openai_options, start_tracing

provider = start_tracing()

from openai import AsyncOpenAI
from strands import Agent, tool
from strands.models.openai import OpenAIModel
from strands.multiagent import GraphBuilder


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"{city}: sunny"


model = OpenAIModel(client=AsyncOpenAI(**async_openai_options()), model_id="gpt-4o")
graph = GraphBuilder()
graph.add_node(Agent(model=model, tools=[weather], callback_handler=None), "reporter")
graph.build()("How is the weather?")
provider.shutdown()
