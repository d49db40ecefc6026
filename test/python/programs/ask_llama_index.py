"""What the programs of LlamaIndex ask."""

from llama_index.core.llms import ChatMessage
from llama_index.llms.openai import OpenAI
from otel import openai_options


def ask() -> None:
    options = openai_options()
    project = options.pop("project")
    model = OpenAI(
        model="gpt-4o",
        api_base=options["base_url"],
        api_key=options["api_key"],
        http_client=options["http_client"],
        default_headers={"OpenAI-Project": project} if project else None,
        additional_kwargs={"stream_options": {"include_usage": True}},
    )
    whole = OpenAI(
        model="gpt-4o",
        api_base=options["base_url"],
        api_key=options["api_key"],
        http_client=options["http_client"],
        default_headers={"OpenAI-Project": project} if project else None,
    )
    question = [ChatMessage(role="user", content="What is the answer?")]
    whole.chat(question)
    whole.complete("What is the answer?")
    for _ in model.stream_chat(question):
        pass
