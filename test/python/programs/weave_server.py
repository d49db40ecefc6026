"""The routes that the SDK knows, asked by its own client: pages of them, and their errors."""

import os
from datetime import datetime, timedelta, timezone

import weave
from weave.vendor.weave_server_sdk import NotFoundError, UnprocessableEntityError

client = weave.init(os.environ["PROJECT"])
server, project_id = client.server, os.environ["PROJECT"]

from ask import MODEL, QUESTION, openai_client


def refused(kind: type, name: str, request: dict):
    """The error of a request that is refused at once."""
    try:
        getattr(server, name)({"project_id": project_id} | request)
    except kind as error:
        return error.body["detail"]
    raise SystemExit(f"{name} should refuse {request}")


@weave.op
def ask(n: int) -> str:
    return openai_client().chat.completions.create(model=MODEL, messages=QUESTION).choices[0].message.content


@weave.op
def quick(n: int) -> int:
    return n


# versions of objects: filtered, in pages, without their values
for n in range(5):
    weave.publish({"text": f"version {n}", "parts": [{"n": n}]}, name="prompt")
    client.flush()
weave.publish({"text": "another"}, name="other")
_, asked = ask.call(1)
client.flush()
objs = {"project_id": project_id, "filter": {"object_ids": ["prompt"]}}
newest = {"sort_by": [{"field": "created_at", "direction": "desc"}]}
versions = server.objs_query(objs | newest).objs
assert [obj.version_index for obj in versions] == [4, 3, 2, 1, 0], versions
assert [obj.is_latest for obj in versions] == [1, 0, 0, 0, 0], versions
pages = [server.objs_query(objs | newest | {"limit": 2, "offset": offset}).objs for offset in (0, 2, 4, 6)]
assert [len(page) for page in pages] == [2, 2, 1, 0], pages
assert [obj.digest for page in pages for obj in page] == [obj.digest for obj in versions]
[latest] = server.objs_query({"project_id": project_id, "filter": objs["filter"] | {"latest_only": True}, "metadata_only": True}).objs
assert (latest.digest, latest.val) == (versions[0].digest, {}), latest
ops = {obj.object_id for obj in server.objs_query({"project_id": project_id, "filter": {"is_op": True}}).objs}
assert "ask" in ops and not ops & {"prompt", "other"}, ops
assert server.objs_query({"project_id": project_id, "filter": {"object_ids": ["nothing"]}}).objs == []

# references: many at once, ways into values, and those that lead nowhere
base = f"weave:///{project_id}/object/prompt"
many = [f"{base}:v{n % 5}/key/text" for n in range(1000)]
assert server.refs_read_batch({"refs": many}).vals == [f"version {n % 5}" for n in range(1000)]
ways = [f"{base}:latest/key/parts/index/0/key/n", f"{base}:{versions[1].digest}/key/parts", f"{base}:v0/key/none", asked.op_name]
*vals, op = server.refs_read_batch({"refs": ways}).vals
assert vals == [4, [{"n": 3}], None] and op["_type"] == "CustomWeaveType", (vals, op)
assert "refs[1]" in refused(NotFoundError, "refs_read_batch", {"refs": [f"{base}:v0", f"{base}:v9"]})
[issue] = refused(UnprocessableEntityError, "refs_read_batch", {"refs": [f"{base}:v0", "no reference"]})
assert issue["loc"] == ["body", "refs", 1], issue
assert refused(NotFoundError, "obj_read", {"object_id": "nowhere", "digest": "v0"})

# tables: changed, in pages, and changes that no table has a place for
rows = [{"n": n} for n in range(250)]
first = server.table_create({"table": {"project_id": project_id, "rows": rows}})
changes = [{"append": {"row": {"n": 250}}}, {"insert": {"index": 0, "row": {"n": -1}}}, {"pop": {"index": 1}}]
changed = server.table_update({"project_id": project_id, "base_digest": first.digest, "updates": changes})
assert len(changed.updated_row_digests) == 3 and changed.updated_row_digests[2] == first.row_digests[0], changed
table = {"project_id": project_id, "digest": changed.digest}
assert server.table_query_stats(table).count == 251
pages = [server.table_query(table | {"limit": 100, "offset": offset}).rows for offset in (0, 100, 200, 300)]
assert [row.val["n"] for page in pages for row in page] == [-1, *range(1, 251)]
assert [len(page) for page in pages] == [100, 100, 51, 0]
[one] = server.table_query(table | {"filter": {"row_digests": [changed.updated_row_digests[0]]}}).rows
assert one.val == {"n": 250}, one
server.remote_request_bytes_limit = 1000
split = server.table_update({"project_id": project_id, "base_digest": first.digest, "updates": [{"append": {"row": {"n": n}}} for n in range(250, 400)]})
assert server.table_query_stats({"project_id": project_id, "digest": split.digest}).count == 400
assert len(split.updated_row_digests) == 150, split
assert refused(NotFoundError, "table_update", {"base_digest": "nothing", "updates": changes})
assert refused(NotFoundError, "table_query", {"digest": "nothing"})
[issue] = refused(UnprocessableEntityError, "table_update", {"base_digest": first.digest, "updates": [{"pop": {"index": 250}}]})
assert issue["loc"] == ["body", "updates", 0, "pop", "index"], issue

# calls with what was said of them, over several pages of the SDK
calls = [quick.call(n)[1] for n in range(30)]
client.flush()
calls[3].feedback.add_reaction("👍")
calls[3].feedback.add_reaction("👩🏽‍🚀", creator="somebody")
for call in calls[::2]:
    call.feedback.add("score", {"value": 0.5, "right": call.inputs["n"] > 10})
client.flush()
by_n = {"filter": {"op_names": [calls[0].op_name]}, "sort_by": [{"field": "inputs.n", "direction": "asc"}]}
paged = list(client.get_calls(**by_n, include_feedback=True, page_size=7))
assert [call.inputs["n"] for call in paged] == list(range(30)), paged
said = [[one["feedback_type"] for one in call.summary["weave"].get("feedback", [])] for call in paged]
assert said == [["wandb.reaction.1"] * 2 if n == 3 else ["score"] if n % 2 == 0 else [] for n in range(30)], said
aliases = sorted(one["payload"]["alias"] for one in paged[3].summary["weave"]["feedback"])
assert aliases == [":thumbs_up:", ":woman_astronaut_medium_skin_tone:"], aliases
assert [one.weave_ref for one in client.get_feedback(reaction="👍")] == [calls[3].ref.uri]
assert [len(list(client.get_feedback(offset=offset, limit=8))) for offset in (0, 8, 16, 24)] == [8, 8, 1, 0]
try:
    client.get_call("nothing")
    raise SystemExit("there is no such call")
except ValueError:
    pass

# what the calls used and cost, and what was said, in numbers
used = server.trace_usage({"project_id": project_id, "filter": {"call_ids": [asked.id]}, "include_costs": True})
[told] = used.call_usage[asked.id].values()
assert told.requests == 1 and told.total_tokens == told.prompt_tokens + told.completion_tokens > 0, told
assert told.prompt_tokens_total_cost > 0 and used.unfinished_call_ids == [], used
same = server.calls_usage({"project_id": project_id, "call_ids": [asked.id, calls[0].id], "include_costs": True})
assert [one.model_dump() for one in same.call_usage[asked.id].values()] == [told.model_dump()], same
assert same.call_usage[calls[0].id] == {}, same
window = {"project_id": project_id, "start": datetime.now(timezone.utc) - timedelta(hours=1), "feedback_type": "score"}
metrics = [{"json_path": "value", "aggregations": ["avg", "count"]}, {"json_path": "right", "value_type": "boolean", "aggregations": ["count_true"]}]
stats = server.feedback_stats(window | {"metrics": metrics, "granularity": 3600, "timezone": "Asia/Kolkata"})
assert sum(bucket["count"] for bucket in stats.buckets) == 15 and stats.timezone == "Asia/Kolkata", stats
assert stats.window_stats == {"value": {"avg": 0.5, "count": 15.0}, "right": {"count_true": 9.0}}, stats
paths = {path.json_path: path.value_type for path in server.feedback_payload_schema(window).paths}
assert paths == {"right": "boolean", "value": "numeric"}, paths
[issue] = refused(UnprocessableEntityError, "feedback_stats", {"start": window["start"], "timezone": "Nowhere/Land"})
assert issue["loc"][:2] == ["body", "timezone"], issue

# a price of the project's own, and none
client.add_cost(llm_id="told-by-hand", prompt_token_cost=0.5, completion_token_cost=1)
[cost] = client.query_costs(llm_ids=["told-by-hand"])
client.purge_costs(cost.id)
assert client.query_costs(llm_ids=["told-by-hand"]) == []

# deletion, with all below
@weave.op
def parent() -> int:
    return quick(1)


_, above = parent.call()
client.flush()
client.delete_calls([above.id, calls[0].id])
left = [call.id for call in client.get_calls()]
assert sorted(left) == sorted([asked.id, *[call.id for call in calls[1:]], *[call.id for call in client.get_calls(filter={"parent_ids": [asked.id]})]]), left
client.finish()
