import asyncio
import os

import weave

client = weave.init(os.environ["PROJECT"])

from ask import MODEL, QUESTION, ask_openai, openai_client


@weave.op
def ask() -> None:
    ask_openai()


@weave.op
async def ask_later() -> None:
    await asyncio.to_thread(openai_client().chat.completions.create, model=MODEL, messages=QUESTION)


@weave.op
def fails() -> None:
    openai_client().chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "please fail"}])


@weave.op
def app() -> str:
    ask()
    asyncio.run(ask_later())
    with weave.ThreadPoolExecutor(max_workers=2) as pool:
        list(pool.map(lambda _: ask(), range(2)))
    try:
        fails()
    except Exception:
        pass
    return "done"


_, call = app.call()
call.set_display_name("The whole app")
call.feedback.add_reaction("👍")
call.feedback.add_note("fine")
call.feedback.add("score", {"value": 0.5})
client.finish()

again = client.get_call(call.id)
assert again.display_name == "The whole app", again.display_name
assert len(list(client.get_calls())) >= 5
