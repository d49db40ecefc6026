"""What the programs of Haystack ask."""

import os

from haystack import Pipeline
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret

options = {
    "api_base_url": os.environ["OPENAI_BASE_URL"],
    "api_key": Secret.from_token(os.environ["OPENAI_API_KEY"]),
    "model": "gpt-4o",
}
question = {"llm": {"messages": [ChatMessage.from_user("What is the answer?")]}}


def ask() -> None:
    ask_once()
    ask_once(
        streaming_callback=lambda chunk: None, generation_kwargs={"stream_options": {"include_usage": True}}
    )


def ask_once(**more) -> None:
    pipeline = Pipeline()
    pipeline.add_component("llm", OpenAIChatGenerator(**options, **more))
    pipeline.run(question)
