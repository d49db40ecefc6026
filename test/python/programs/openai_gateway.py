from ask import ask_openai, openai_client

ask_openai()
raw = openai_client().chat.completions.with_raw_response.create(
    model="gpt-4o", messages=[{"role": "user", "content": "hello"}]
)
assert raw.headers["x-sumtree-call-id"]
import openai

try:
    openai_client().chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "please fail"}])
    raise SystemExit("should have failed")
except openai.BadRequestError as error:
    assert "as you wish" in str(error), error
