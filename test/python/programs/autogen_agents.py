import asyncio
import os

from otel import async_openai_options, start_tracing

provider = start_tracing()

if os.environ.get("AUTOGEN_OWN") != "1":
    from openinference.instrumentation.autogen_agentchat import AutogenAgentChatInstrumentor

    AutogenAgentChatInstrumentor().instrument(tracer_provider=provider)

from autogen_agentchat.agents import AssistantAgent
from autogen_core import SingleThreadedAgentRuntime
from autogen_ext.models.openai import OpenAIChatCompletionClient


def weather(city: str) -> str:
    """The weather of a city."""
    return f"{city}: sunny"


async def main():
    options = async_openai_options()
    model = OpenAIChatCompletionClient(
        model="gpt-4o", base_url=options["base_url"], api_key=options["api_key"], http_client=options["http_client"]
    )
    agent = AssistantAgent("assistant", model_client=model, tools=[weather])
    await agent.run(task="What is the weather?")
    streaming = AssistantAgent("streaming", model_client=model, model_client_stream=True)
    async for _ in streaming.run_stream(task="And the answer?"):
        pass


asyncio.run(main())
provider.shutdown()
