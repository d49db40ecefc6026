import os

from otel import start_tracing

provider = start_tracing()

from strands import Agent, tool
from strands.models.openai import OpenAIModel
from strands.multiagent import GraphBuilder


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"{city}: sunny"


args = {"base_url": os.environ["OPENAI_BASE_URL"], "api_key": os.environ["OPENAI_API_KEY"]}
model = OpenAIModel(client_args=args, model_id="gpt-4o")
graph = GraphBuilder()
graph.add_node(Agent(model=model, tools=[weather], callback_handler=None), "reporter")
graph.build()("How is the weather?")
provider.shutdown()
