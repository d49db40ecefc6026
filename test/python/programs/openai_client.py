"""OpenAI's client through the gateway: whole and streamed, at once, refused, repeated, and left in the middle."""

import asyncio
import json
import os
import time

import openai

KEY, BASE, PROJECT = os.environ["SUMTREE_KEY"], os.environ["OPENAI_BASE_URL"], os.environ["PROJECT"]
MODEL = "forest-1"


def ask(text: str, **more) -> dict:
    return {"model": MODEL, "messages": [{"role": "user", "content": text}], **more}


client = openai.OpenAI(base_url=BASE, api_key=KEY, project=PROJECT, max_retries=3)
counted = []

# repeated: the upstream is busy first, then broken
counted.append(client.chat.completions.create(**ask("again and again")).usage.total_tokens)

# whole, and its call
raw = client.chat.completions.with_raw_response.create(**ask("one two three"))
counted.append(raw.parse().usage.total_tokens)
assert len(raw.headers["x-sumtree-call-id"]) > 10
assert raw.parse()._request_id

# streamed, with the usage asked for and without
*_, last = client.chat.completions.create(**ask("a stream", stream=True, stream_options={"include_usage": True}))
counted.append(last.usage.total_tokens)
chunks = list(client.chat.completions.create(**ask("a stream", stream=True, max_tokens=20)))
assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices).count("naïvely") == 1
counted.append(last.usage.prompt_tokens + 20)

# refused: by the gateway, and by the upstream
try:
    client.with_options(api_key="st_wrong000000_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG").chat.completions.create(**ask("no"))
    raise SystemExit("a wrong key should be refused")
except openai.AuthenticationError as refused:
    assert refused.status_code == 401 and refused.request_id, refused
try:
    client.delete("/preview/models/nowhere", cast_to=object)
    raise SystemExit("there is no such model")
except openai.NotFoundError as refused:
    assert refused.body["message"] == "Model not found", refused.body


# many at once, and async streams
async def at_once() -> None:
    async with openai.AsyncOpenAI(base_url=BASE, api_key=KEY, project=PROJECT) as later:
        answers = await asyncio.gather(*[later.chat.completions.create(**ask("word " * n)) for n in range(1, 21)])
        counted.extend(answer.usage.total_tokens for answer in answers)
        options = {"stream": True, "stream_options": {"include_usage": True}}
        async for chunk in await later.chat.completions.create(**ask("later", **options)):
            last = chunk
        counted.append(last.usage.total_tokens)


asyncio.run(at_once())

# left in the middle of a stream that would take a minute
began = time.monotonic()
slow = ask("slowly", stream=True, max_tokens=1000)
with client.chat.completions.create(**slow, extra_body={"vllm_xargs": {"delay_ms": 60}}) as stream:
    for seen, chunk in enumerate(stream):
        if seen == 5:
            break
assert time.monotonic() - began < 50
client.close()
print("\nRESULT " + json.dumps({"counted": counted}))
