import os

import weave

client = weave.init(os.environ["PROJECT"])

from ask import CLAUDE, QUESTION, anthropic_client, ask_anthropic


@weave.op
def whole():
    return anthropic_client().messages.create(model=CLAUDE, max_tokens=100, messages=QUESTION)


@weave.op
def streamed() -> None:
    for _ in anthropic_client().messages.create(model=CLAUDE, max_tokens=100, messages=QUESTION, stream=True):
        pass


@weave.op
def app() -> None:
    ask_anthropic()
    whole()
    streamed()


app()
client.finish()
