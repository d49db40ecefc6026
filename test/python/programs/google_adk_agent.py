import asyncio
import os

import httpx
from otel import project_header, send_traceparent_later, start_tracing

provider = start_tracing()

import litellm
from google.adk.agents import Agent
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import InMemoryRunner
from google.genai import types


def weather(city: str) -> str:
    """The weather of a city."""
    return f"{city}: sunny"


litellm.aclient_session = httpx.AsyncClient(event_hooks={"request": [send_traceparent_later]})
model = LiteLlm(
    model="openai/gpt-4o",
    api_base=os.environ["OPENAI_BASE_URL"],
    api_key=os.environ["OPENAI_API_KEY"],
    extra_headers=project_header(),
)
runner = InMemoryRunner(agent=Agent(name="app", model=model, tools=[weather]), app_name="app")


async def main() -> None:
    session = await runner.session_service.create_session(app_name="app", user_id="u")
    message = types.Content(role="user", parts=[types.Part(text="How is the weather?")])
    async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=message):
        pass


asyncio.run(main())
provider.shutdown()
