"""Calls read back, with what was said of them and what they cost; threads, streams, deletion."""

import asyncio
import os

import weave

client = weave.init(os.environ["PROJECT"])

from ask import MODEL, QUESTION, openai_client


@weave.op
def ask(n: int) -> str:
    return openai_client().chat.completions.create(model=MODEL, messages=QUESTION).choices[0].message.content


@weave.op
def words(n: int):
    for word in ["one", "two", "three"][:n]:
        yield word


@weave.op
async def later(n: int) -> int:
    await asyncio.sleep(0)
    return n


@weave.op
def fails() -> None:
    raise ValueError("as intended")


with weave.thread("thread-1") as thread:
    answer, asked = ask.call(1)
    list(words(3))
with weave.attributes({"env": "test"}):
    _, second = ask.call(2)
asyncio.run(later(5))
try:
    fails()
except ValueError:
    pass
client.flush()

asked.set_display_name("The first")
reaction = asked.feedback.add_reaction("👍🏽")
asked.feedback.add_note("fine")
score = asked.feedback.add("score", {"value": 0.5, "why": {"long": True}})
client.flush()

calls = list(client.get_calls(sort_by=[{"field": "started_at", "direction": "desc"}]))
started = [call.started_at for call in calls]
assert started == sorted(started, reverse=True)
assert len(calls) == len(client.get_calls()) == 7, [call.op_name for call in calls]

call = client.get_call(asked.id, include_costs=True, include_feedback=True)
assert call.display_name == "The first" and call.output == answer, call
assert call.thread_id == "thread-1"
# the SDK sends what was said in batches, which have no order
said = {one["feedback_type"]: one["payload"] for one in call.summary["weave"]["feedback"]}
assert len(call.summary["weave"]["feedback"]) == 3, call.summary
assert said["wandb.reaction.1"]["alias"] == ":thumbs_up_medium_skin_tone:", said
assert said["wandb.note.1"] == {"note": "fine"} and said["score"] == {"value": 0.5, "why": {"long": True}}, said
[cost] = call.summary["weave"]["costs"].values()
assert cost["prompt_tokens_total_cost"] > 0, cost

in_thread = client.get_calls(filter={"thread_ids": ["thread-1"], "trace_roots_only": True})
assert {one.id for one in in_thread} >= {asked.id}
query = {"$expr": {"$eq": [{"$getField": "attributes.env"}, {"$literal": "test"}]}}
assert second.id in [one.id for one in client.get_calls(query=query)]
narrow = list(client.get_calls(filter={"call_ids": [asked.id]}, columns=["inputs.n"]))
assert [dict(one.inputs) for one in narrow] == [{"n": 1}], narrow
page = list(client.get_calls(limit=2, offset=1, sort_by=[{"field": "started_at", "direction": "desc"}]))
assert [one.id for one in page] == [one.id for one in calls[1:3]]
assert [one.exception for one in client.get_calls() if "fails" in one.op_name][0].count("as intended")

asked.feedback.purge(reaction)
assert len(list(call.feedback)) == 2, list(call.feedback)
assert [one.payload["value"] for one in client.get_feedback(score)] == [0.5]
assert len(list(ask.calls())) == 2

later_call = [one for one in client.get_calls() if "later" in one.op_name][0]
client.delete_call(later_call)
assert len(client.get_calls()) == 6
client.finish()
