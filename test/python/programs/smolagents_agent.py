import os

from otel import start_tracing

provider = start_tracing()

from openinference.instrumentation.smolagents import SmolagentsInstrumentor

SmolagentsInstrumentor().instrument(tracer_provider=provider)

from smolagents import OpenAIServerModel, ToolCallingAgent, tool


@tool
def weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: The city.
    """
    return f"{city}: sunny"


model = OpenAIServerModel("gpt-4o", api_base=os.environ["OPENAI_BASE_URL"], api_key=os.environ["OPENAI_API_KEY"])
ToolCallingAgent(tools=[weather], model=model, max_steps=2).run("What is the weather?")
provider.shutdown()
