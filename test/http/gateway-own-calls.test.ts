import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bearer, startGateway, startSecondApp, type TestGateway } from "../helpers/start-gateway.ts";
import type { TestResponse } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const project = "acme/own-calls";
let test: TestGateway;
beforeAll(async () => {
  test = await startGateway();
});
afterAll(() => test.close());

/** The call of a completion: recorded, or still under way. */
async function complete(more: object = {}): Promise<{ id: string; response: Response }> {
  const response = await fetch(`${test.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { ...bearer, "x-sumtree-project": project, "x-sumtree-trace-id": "own-trace" },
    body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }], ...more }),
  });
  return { id: response.headers.get("x-sumtree-call-id")!, response };
}

async function told(id: string): Promise<object | undefined> {
  const { text } = await test.post("/calls/stream_query", {
    project_id: project,
    filter: { call_ids: [id] },
  });
  const usage = await test.post("/trace/usage", {
    project_id: project,
    filter: { trace_ids: ["own-trace"] },
  });
  return text === "" ? undefined : { call: JSON.parse(text), usage: usage.json().call_usage[id] };
}

const later = "2030-01-01T00:00:00Z";
const startOf = (id: string) => ({ project_id: project, id, op_name: "mine", started_at: later });
const endOf = (id: string) => ({ project_id: project, id, ended_at: later, summary: {}, output: null });
const wholeOf = (id: string) => ({ ...startOf(id), ...endOf(id), trace_id: "mine" });

type Post = (url: string, body: unknown) => Promise<TestResponse>;

/** Every message that could say something of a call with an id of the client's choice. */
async function overwrite(id: string, post: Post = (url, body) => test.post(url, body)): Promise<void> {
  const path = `/v2/${project}`;
  const alone = [
    await post("/call/start", { start: startOf(id) }),
    await post("/call/end", { end: endOf(id) }),
    await post(`${path}/call/start`, { start: startOf(id) }),
    await post(`${path}/call/end`, { end: endOf(id) }),
  ];
  const loc = expect.arrayContaining(["id"]) as unknown;
  for (const response of alone)
    expect([response.status, response.json()]).toEqual([422, { detail: [expect.objectContaining({ loc })] }]);
  const whole = await post(`${path}/calls/complete`, { batch: [wholeOf(id), wholeOf(`a-${id}`)] });
  expect(whole.json()).toMatchObject({ rejected: [{ index: 0 }] });
  const batch = [
    { mode: "start", req: { start: startOf(id) } },
    { mode: "end", req: { end: endOf(id) } },
    { mode: "start", req: { start: startOf(`b-${id}`) } },
  ];
  const parts = await post("/call/upsert_batch", { batch });
  expect(parts.json()).toMatchObject({ rejected: [{ index: 0 }, { index: 1 }] });
}

describe("a call recorded by the gateway", () => {
  it("cannot be changed by a client that knows its id", async () => {
    const { id, response } = await complete();
    await response.text();
    await until(async () => (await told(id)) !== undefined);
    const before = await told(id);
    expect(before).toMatchObject({ usage: { "m-2026-11-01": { requests: 1 } } });
    await overwrite(id);
    expect(await told(id)).toEqual(before);
  });

  it("nor by one that is faster than the recording, nor through another process", async () => {
    const { id, response } = await complete({ stream: true, max_tokens: 20, vllm_xargs: { delay_ms: 10 } });
    await overwrite(id);
    const other = await startSecondApp(test, {});
    await overwrite(id, async (url, body) => {
      const response = await fetch(other.url + url, {
        method: "POST",
        headers: { ...bearer, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      return { status: response.status, headers: {}, text, json: () => JSON.parse(text) as unknown };
    });
    await other.close();
    await response.text();
    await until(async () => (await told(id)) !== undefined);
    expect(await told(id)).toMatchObject({
      call: { op_name: "openai.chat.completions.create", trace_id: "own-trace", exception: null },
      usage: { "m-2026-11-01": { completion_tokens: 20 } },
    });
  });

  it("can be named, scored and deleted, and be the parent of other calls", async () => {
    const { id, response } = await complete();
    await response.text();
    await until(async () => (await told(id)) !== undefined);
    const child = { ...wholeOf(`c-${id}`), trace_id: "own-trace", parent_id: id };
    expect((await test.post(`/v2/${project}/calls/complete`, { batch: [child] })).json()).toEqual({
      rejected: [],
    });
    await test.post("/call/update", { project_id: project, call_id: id, display_name: "Mine" });
    expect(await told(id)).toMatchObject({ call: { display_name: "Mine" } });
    const deleted = await test.post("/calls/delete", { project_id: project, call_ids: [id] });
    expect(deleted.json()).toMatchObject({ num_deleted: 2 });
    expect(await told(id)).toBeUndefined();
  });
});
