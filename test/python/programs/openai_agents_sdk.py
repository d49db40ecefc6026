from otel import async_openai_options, start_tracing

provider = start_tracing()

from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

OpenAIAgentsInstrumentor().instrument()

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool
from openai import AsyncOpenAI

client = AsyncOpenAI(**async_openai_options())


@function_tool
def weather(city: str) -> str:
    return f"{city}: sunny"


model = OpenAIChatCompletionsModel(model="gpt-4o", openai_client=client)
agent = Agent(name="app", model=model, tools=[weather])
Runner.run_sync(agent, "How is the weather?")
provider.shutdown()
