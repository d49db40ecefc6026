import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TEXTS } from "../helpers/edge-values.ts";
import { startApp, type TestResponse, type TestApp } from "../helpers/start-app.ts";

type Json = Record<string, ReturnType<TestResponse["json"]>>;

let test: TestApp;
beforeAll(async () => {
  test = await startApp({ settings: { RATE_LIMIT_PER_MINUTE: "1000000000" } });
});
afterAll(() => test.close());

async function post(url: string, body: unknown): Promise<Json> {
  const response = await test.post(url, body);
  expect([response.status, response.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
  return response.json() as Json;
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

function byText(one: string, other: string): number {
  return one < other ? -1 : 1;
}

const nonEmpty = Object.values(TEXTS).filter((text) => text !== "");

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

describe("a token count", () => {
  const COUNTS = [
    ["9007199254740991", 2 ** 53 - 1],
    ["9007199254740992", 2 ** 53],
    ["9007199254740994", 2 ** 53 + 2],
    ["1152921504606846976", 2 ** 60],
    ['"9007199254740992"', 2 ** 53],
    ["1e3", 1000],
    ['"1e3"', 1000],
    ["7.0", 7],
    ["7.9", 7],
    ['" 7 "', 7],
    ["-1", 0],
    ["1e400", 0],
    ["NaN", 0],
    ['"x"', 0],
    ["null", 0],
    ["true", 0],
    ["[1]", 0],
  ] as const;

  it("is read correctly, or ignored", async () => {
    const calls = COUNTS.map(
      ([sent], at) =>
        `{"id":"c${at}","trace_id":"t","op_name":"o","started_at":"2026-01-01T00:00:00Z","ended_at":"2026-01-01T00:00:00Z",` +
        `"summary":{"usage":{"m":{"requests":1,"prompt_tokens":${sent}}}}}`,
    );
    await post("/v2/acme/counts/calls/complete", `{"batch":[${calls.join()}]}`);
    const usage = (await test.post("/trace/usage", { project_id: "acme/counts" })).json().call_usage;
    const counted = COUNTS.map(([sent], at) => [sent, usage[`c${at}`].m.prompt_tokens]);
    expect(counted).toEqual(COUNTS);
  });
});
