import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canonical, PAYLOADS } from "../helpers/edge-payloads.ts";
import { TEXTS } from "../helpers/edge-values.ts";
import { fullFeedback } from "../helpers/full-requests.ts";
import { isLong } from "../helpers/runs.ts";
import { startApp, type TestResponse, type TestApp } from "../helpers/start-app.ts";

type Json = Record<string, ReturnType<TestResponse["json"]>>;

let test: TestApp;
beforeAll(async () => {
  test = await startApp({ settings: { RATE_LIMIT_PER_MINUTE: "1000000000" } });
});
afterAll(() => test.close());

async function post(url: string, body: unknown): Promise<Json> {
  const answer = await test.post(url, body);
  expect([answer.status, answer.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
  return answer.json() as Json;
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

function byText(one: string, other: string): number {
  return one < other ? -1 : 1;
}

const nonEmpty = Object.values(TEXTS).filter((text) => text !== "");

/** Feedback and prices: sent one by one, read by their lists. */
describe("data besides calls", () => {
  it("every text member of a feedback is returned as sent", async () => {
    const { project_id: _, ...whole } = fullFeedback;
    const project_id = "acme/feedback-texts";
    const members = [
      "feedback_type",
      "weave_ref",
      "creator",
      "annotation_ref",
      "runnable_ref",
      "call_ref",
      "trigger_ref",
      "queue_id",
      "wb_user_id",
    ];
    const sent = members.flatMap((member) =>
      nonEmpty.map((value) => ({ member, value: value.toWellFormed() })),
    );
    const batch = sent.map(({ member, value }, index) => ({
      ...whole,
      project_id,
      id: `f${index}`,
      payload: { [value]: value },
      [member]: value,
    }));
    await post("/feedback/batch/create", { batch });
    const { result: results } = await post("/feedback/query", { project_id, limit: 10_000 });
    const found = new Map((results as Json[]).map((one) => [one["id"], one]));
    const wrong = sent.flatMap(({ member, value }, index) => {
      const got = found.get(`f${index}`);
      const isSame =
        got?.[member] === value && Object.hasOwn(got["payload"], value) && got["payload"][value] === value;
      return isSame ? [] : [`${member} ${JSON.stringify(value)}: ${JSON.stringify(got?.[member])}`];
    });
    expect(wrong).toEqual([]);
  });

  it("the length of a note is counted in characters", async () => {
    const note = (text: string) => ({
      ...fullFeedback,
      project_id: "acme/notes",
      id: undefined,
      feedback_type: "wandb.note.1",
      payload: { note: text },
    });
    for (const one of isLong ? ["x", "é", "😀"] : ["😀"]) {
      expect((await test.post("/feedback/create", note(one.repeat(1024)))).status).toBe(200);
      expect((await test.post("/feedback/create", note(one.repeat(1025)))).status).toBe(422);
    }
  });

  it("a price is stored for every LLM id, or rejected", async () => {
    const project_id = "acme/prices";
    const price = JSON.stringify({ prompt_token_cost: 1, completion_token_cost: 2 });
    const costsOf = (llms: readonly string[]) =>
      JSON.parse(`{${llms.map((name) => `${JSON.stringify(name)}:${price}`).join()}}`) as object;
    const all = new Set(nonEmpty.map((name) => name.toWellFormed()));
    const refused = await test.post("/cost/create", { project_id, costs: costsOf([...all]) });
    expect([refused.status, refused.json().detail[0].loc]).toEqual([422, ["body", "costs", "__proto__"]]);
    expect((await post("/cost/query", { project_id }))["results"]).toEqual([]);
    const names = [...all].filter((name) => name !== "__proto__").toSorted(byText);
    const { ids } = await post("/cost/create", { project_id, costs: costsOf(names) });
    expect((ids as [string, string][]).map(([, name]) => name).toSorted(byText)).toEqual(names);
    const { results } = await post("/cost/query", { project_id });
    expect((results as Json[]).map((one) => String(one["llm_id"])).toSorted(byText)).toEqual(names);
  });

  it("objects, tables and their members are returned as sent", async () => {
    const project_id = "acme/objects";
    const values = PAYLOADS.filter(([sent]) => sent.length < 10_000);
    const rows = values.map(([sent]) => sent).join(",");
    const { digest } = await post(
      "/table/create",
      `{"table":{"project_id":"${project_id}","rows":[${rows}]}}`,
    );
    const read = await test.post("/table/query", { project_id, digest });
    const got = (JSON.parse(canonical(read.text)).rows as Json[]).map((row) => JSON.stringify(row["val"]));
    expect(got).toEqual(values.map(([, expected]) => canonical(expected)));
    for (const name of nonEmpty
      .map((text) => text.toWellFormed())
      .filter((_, at) => isLong || at % 4 === 0)) {
      const [sent, expected] = values[nonEmpty.indexOf(name) + 1] ?? values[0]!;
      const created = await post(
        "/obj/create",
        `{"obj":{"project_id":"${project_id}","object_id":${JSON.stringify(name)},"val":${sent}}}`,
      );
      const answer = await test.post("/obj/read", { project_id, object_id: name, digest: created["digest"] });
      const { obj } = JSON.parse(canonical(answer.text)) as Json;
      expect([obj.object_id, JSON.stringify(obj.val)]).toEqual([name, canonical(expected)]);
    }
  });
});

describe("a name", () => {
  it("of a call, a trace or an LLM can be any text, and is unique", async () => {
    const project_id = "acme/names";
    const batch = nonEmpty.map((name, index) => ({
      id: name,
      trace_id: name,
      op_name: name,
      started_at: "2026-01-01T00:00:00Z",
      ended_at: "2026-01-01T00:00:01Z",
      summary: {
        usage: JSON.parse(`{${JSON.stringify(name)}:{"requests":1,"prompt_tokens":${index + 1}}}`) as unknown,
      },
    }));
    const kept = batch.filter(
      ({ id }) => !/[\ud800-\udfff](?![\udc00-\udfff])/.test(id) || id === "a\ud800b",
    );
    expect(await post("/v2/acme/names/calls/complete", { batch: kept })).toEqual({ rejected: [] });
    const usage = (await test.post("/trace/usage", { project_id })).json().call_usage;
    const some = (await test.post("/calls/usage", { project_id, call_ids: kept.map(({ id }) => id) })).json()
      .call_usage;
    const wrong: string[] = [];
    for (const [index, name] of kept.map(({ id }) => id.toWellFormed()).entries()) {
      const tokens = Object.values(
        kept[index]!.summary.usage as Record<string, { prompt_tokens: number }>,
      )[0]!.prompt_tokens;
      for (const response of [usage, some]) {
        const entry = Object.hasOwn(response, name) ? Object.entries<Json>(response[name]) : [];
        if (entry.length !== 1 || entry[0]![0] !== name || entry[0]![1]["prompt_tokens"] !== tokens)
          wrong.push(`${JSON.stringify(name)}: ${JSON.stringify(entry)}`);
      }
      if (!isLong && index % 6 > 0) continue;
      const { call } = (await test.post("/call/read", { project_id, id: name })).json();
      if (call?.id !== name || call.trace_id !== name || call.op_name !== name)
        wrong.push(`/call/read ${JSON.stringify(name)}`);
      const query = { $expr: { $eq: [{ $getField: "id" }, { $literal: name }] } };
      const found = linesOf((await test.post("/calls/stream_query", { project_id, query })).text);
      if (found.length !== 1) wrong.push(`$expr id = ${JSON.stringify(name)}: ${found.length}`);
    }
    expect(wrong).toEqual([]);
  });

  it("of a trace and of a call are never confused with another pair", async () => {
    const project_id = "acme/pairs";
    const pairs = [
      ["a\nb", "c"],
      ["a", "b\nc"],
      ["a\u0000b", "c"],
      ["a", "b\u0000c"],
      ["a/b", "c"],
      ["a", "b/c"],
      ["a:b", "c"],
      ["a", "b:c"],
    ] as const;
    const batch = pairs.map(([trace_id, id], index) => ({
      id,
      trace_id,
      op_name: `o${index}`,
      started_at: "2026-01-01T00:00:00Z",
    }));
    expect(await post("/v2/acme/pairs/calls/complete", { batch })).toEqual({ rejected: [] });
    const read = async () =>
      linesOf((await test.post("/calls/stream_query", { project_id })).text)
        .map((line) => JSON.parse(line) as Json)
        .map(({ trace_id, id, op_name }) => JSON.stringify([trace_id, id, op_name]))
        .toSorted(byText);
    const all = batch.map(({ trace_id, id, op_name }) => JSON.stringify([trace_id, id, op_name]));
    expect(await read()).toEqual(all.toSorted(byText));
    await post("/call/end", { end: { project_id, id: "b\nc", ended_at: "2026-01-01T00:00:01Z" } });
    const { call } = (await test.post("/call/read", { project_id, id: "b\nc" })).json();
    expect([call.trace_id, call.ended_at]).toEqual(["a", "2026-01-01T00:00:01.000000Z"]);
    await post("/calls/delete", { project_id, call_ids: ["b\nc", "b/c"] });
    expect(await read()).toEqual(
      all.filter((_, at) => batch[at]!.id !== "b\nc" && batch[at]!.id !== "b/c").toSorted(byText),
    );
  });
});
