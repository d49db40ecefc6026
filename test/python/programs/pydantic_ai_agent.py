from otel import async_openai_options, start_tracing

provider = start_tracing()

from openai import AsyncOpenAI
from opentelemetry import trace
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

Agent.instrument_all()
client = AsyncOpenAI(**async_openai_options())
agent = Agent(OpenAIChatModel("gpt-4o", provider=OpenAIProvider(openai_client=client)))


@agent.tool_plain
def weather(city: str) -> str:
    return f"{city}: sunny"


with trace.get_tracer("app").start_as_current_span("app"):
    agent.run_sync("How is the weather?")
provider.shutdown()
