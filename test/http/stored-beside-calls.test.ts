import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canonical, PAYLOADS } from "../helpers/edge-payloads.ts";
import { TEXTS } from "../helpers/edge-values.ts";
import { fullFeedback } from "../helpers/full-requests.ts";
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
    for (const one of ["x", "é", "😀"]) {
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
    for (const name of nonEmpty.map((text) => text.toWellFormed())) {
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
