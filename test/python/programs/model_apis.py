"""OpenAI's and Anthropic's clients through the gateway: responses, embeddings and messages, whole and streamed."""

import json
import os

import anthropic
import openai

KEY, BASE, PROJECT = os.environ["SUMTREE_KEY"], os.environ["OPENAI_BASE_URL"], os.environ["PROJECT"]
counted = []

client = openai.OpenAI(base_url=BASE, api_key=KEY, project=PROJECT, max_retries=0)
counted.append(client.responses.create(model="gpt-5", input="Hello").usage.total_tokens)
with client.responses.stream(model="gpt-5", input="Hello") as events:
    for _ in events:
        pass
    counted.append(events.get_final_response().usage.total_tokens)
made = client.embeddings.create(model="text-embedding-3-small", input="Hello", encoding_format="float")
counted.append(made.usage.total_tokens)

claude = anthropic.Anthropic(
    base_url=BASE.removesuffix("/v1"), api_key=KEY, max_retries=0, default_headers={"x-sumtree-project": PROJECT}
)
ask = {"model": "claude-played-1", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]}
usage = claude.messages.create(**ask).usage
counted.append(usage.input_tokens + usage.output_tokens)
with claude.messages.stream(**ask) as events:
    usage = events.get_final_message().usage
counted.append(usage.input_tokens + usage.output_tokens)

print("\nRESULT " + json.dumps({"counted": counted}))
