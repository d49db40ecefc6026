"""What every program asks: OpenAI and Anthropic, whole and streamed."""

import os
import sys

MODEL = "gpt-4o"
CLAUDE = "claude-sonnet-4-5-20250929"
QUESTION = [{"role": "user", "content": "What is the answer?"}]


def openai_client(**options):
    from openai import OpenAI

    return OpenAI(
        base_url=os.environ["OPENAI_BASE_URL"],
        api_key=os.environ["OPENAI_API_KEY"],
        project=os.environ.get("OPENAI_PROJECT"),
        max_retries=0,
        **(weave_headers() | options),
    )


def weave_headers() -> dict:
    weave = sys.modules.get("weave")
    call = weave and os.environ["WAY"] == "gateway" and weave.get_current_call()
    return {"default_headers": headers_of(call)} if call else {}


def headers_of(call) -> dict:
    """They put the gateway's call below the op that asks."""
    return {"x-sumtree-trace-id": call.trace_id, "x-sumtree-parent-id": call.id}


def anthropic_client(**options):
    from anthropic import Anthropic

    return Anthropic(base_url=os.environ["ANTHROPIC_BASE_URL"], api_key="played", max_retries=0, **options)


def ask_openai(client=None) -> None:
    client = client or openai_client()
    client.chat.completions.create(model=MODEL, messages=QUESTION)
    stream = client.chat.completions.create(
        model=MODEL, messages=QUESTION, stream=True, stream_options={"include_usage": True}
    )
    for _ in stream:
        pass


def ask_anthropic(client=None) -> None:
    client = client or anthropic_client()
    client.messages.create(model=CLAUDE, max_tokens=100, messages=QUESTION)
    with client.messages.stream(model=CLAUDE, max_tokens=100, messages=QUESTION) as stream:
        for _ in stream.text_stream:
            pass
