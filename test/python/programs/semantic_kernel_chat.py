import asyncio
import os

os.environ["SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE"] = "true"

from otel import async_openai_options, start_tracing

provider = start_tracing()

from openai import AsyncOpenAI
from semantic_kernel import Kernel
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion


async def main():
    kernel = Kernel()
    kernel.add_service(OpenAIChatCompletion(ai_model_id="gpt-4o", async_client=AsyncOpenAI(**async_openai_options())))
    await kernel.invoke_prompt("What is the answer?")
    async for _ in kernel.invoke_prompt_stream("And the question?"):
        pass


asyncio.run(main())
provider.shutdown()
