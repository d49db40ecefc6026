import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ratedCalls, callsWithFeedback, type RatedCall } from "../../src/ratings/rated-calls.ts";
import { ratingCondition } from "../../src/ratings/schema.ts";
import { sql } from "../../src/query/sql.ts";
import type { Project } from "../../src/shared/project.ts";
import { asQuery, ratingsOf, type Condition, type Feedback } from "../models/ratings.ts";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const PROJECT = "acme/räted%20'\\" as Project;
const CALLS = ["plain", "it's", 'a"b\\c', "ünïcode/slash", "%_percent", "{p0:String}", "x".repeat(200)];
const TYPES = ["score", 'it\'s \\ "odd"', "note"];
const PATHS = ["score", "output.value", "list.1", "list.-1", "o'dd \"key\\", "7.x"];
const VALUES: readonly unknown[] = [
  0,
  1,
  -0.5,
  0.9,
  0.5,
  1e21,
  12_345_678,
  "0.9",
  "1e3",
  " 1",
  "",
  "inf",
  "NaN",
  "good",
  "GOOD",
  "it's \\ fine",
  "true",
  true,
  false,
  null,
  [1],
  { of: [true] },
  [],
  "ß",
  "\u0000",
];
const OPS = ["$eq", "$gt", "$gte", "$lt", "$lte"];

const random = seededRandom();
const oneOf = <Item>(items: readonly Item[]): Item => items[Math.floor(random.next() * items.length)]!;
const scalarValues = VALUES.filter((value) => value !== null && typeof value !== "object");

/** A payload with a value at the path, or at no path that is asked for. */
function payloadOf(): Record<string, unknown> {
  const value = oneOf(VALUES);
  return oneOf([
    { score: value },
    { score: value, comment: "late" },
    { output: { value } },
    { output: value },
    { list: [oneOf(VALUES), value] },
    { list: { 1: value, "-1": 0.9 } },
    { "o'dd \"key\\": value },
    { 7: { x: value } },
    { "output.value": value },
    {},
  ]);
}

let made = 0;
function feedbackOf(): Feedback {
  const ref = oneOf([...CALLS, ...CALLS, ""].map((id) => `weave:///${PROJECT}/call/${id}`));
  return {
    id: `f-${Math.floor(random.next() * 1000)}-${made++}`,
    weave_ref: oneOf([ref, ref, ref, `weave:///acme/other/call/plain`, `weave:///${PROJECT}/object/x:v1`]),
    feedback_type: oneOf(TYPES),
    // few instants, so that many are equal
    created_at: new Date(Date.UTC(2026, 2, 1, 0, 0, Math.floor(random.next() * 6))).toISOString(),
    payload: payloadOf(),
  };
}

function conditionOf(): Condition {
  const op = oneOf([...OPS, "$in", "$contains"]);
  const list = (items: readonly unknown[]) =>
    Array.from({ length: 1 + Math.floor(random.next() * 3) }, () => oneOf(items));
  const value =
    op === "$in"
      ? list(oneOf([scalarValues, [0, 1, 0.9], [true], ["good", "0.9"]]))
      : oneOf(op === "$contains" ? scalarValues.filter((one) => typeof one === "string") : scalarValues);
  return { feedback_type: oneOf([undefined, null, ...TYPES]), json_path: oneOf(PATHS), op, value };
}

async function read(condition: Condition, among = false) {
  const parsed = ratingCondition.parse(condition);
  const ids = among ? callsWithFeedback(PROJECT, parsed) : undefined;
  const rows = await test.engine.rows<RatedCall>(sql`SELECT * FROM ${ratedCalls(PROJECT, parsed, ids)}`, {
    name: "test",
  });
  return new Map(rows.map(({ call_id, passed, value }) => [call_id, { passed: passed === 1, value }]));
}

const sorted = <Found>(found: ReadonlyMap<string, Found>) =>
  [...found].toSorted(([one], [other]) => (one < other ? -1 : 1));

async function give(batch: readonly Feedback[]): Promise<void> {
  const messages = batch.map((one) => ({ project_id: PROJECT, ...one }));
  const created = await test.post("/feedback/batch/create", { batch: messages });
  expect(created.json().rejected).toEqual([]);
}

describe("ratings of calls", () => {
  it("are those of the latest feedback with a value, whatever was written, replaced or purged", async () => {
    let feedback: readonly Feedback[] = [];
    let [rated, passed] = [0, 0];
    for (let step = 0; step < 6; step++) {
      const more = Array.from({ length: 60 }, feedbackOf);
      await give(more);
      feedback = [...feedback, ...more];
      const replaced = feedback
        .slice(0, 5)
        .map((one) => ({ ...feedbackOf(), id: one.id, created_at: one.created_at }));
      await give(replaced);
      const purged = new Set(feedback.slice(-8).map(({ id }) => id));
      const $in = [{ $getField: "id" }, [...purged].map(($literal) => ({ $literal }))];
      const gone = await test.post("/feedback/purge", { project_id: PROJECT, query: { $expr: { $in } } });
      expect(gone.status, gone.text).toBe(200);
      feedback = [...replaced, ...feedback.slice(5)].filter(({ id }) => !purged.has(id));
      for (let ask = 0; ask < runs(5, 200); ask++) {
        const condition = conditionOf();
        const expected = sorted(ratingsOf(PROJECT, feedback, condition));
        rated += expected.length;
        passed += expected.filter(([, rating]) => rating.passed).length;
        expect(sorted(await read(condition, ask % 2 === 1)), JSON.stringify(condition)).toEqual(expected);
      }
    }
    expect([rated > 50, passed > 10]).toEqual([true, true]);
  });

  it("pass where a query over feedback selects the call, if it has one feedback", async () => {
    const project_id = "acme/single" as Project;
    const weave_ref = (id: string) => `weave:///${project_id}/call/${id}`;
    const feedback = VALUES.map((value, place) => ({
      id: `f${place}`,
      weave_ref: weave_ref(`c${place}`),
      feedback_type: "score",
      created_at: "2026-03-01T00:00:00Z",
      payload: { value },
    }));
    const batch = VALUES.map((_, place) => ({
      id: `c${place}`,
      trace_id: `t${place}`,
      op_name: "op",
      started_at: "2026-03-01T00:00:00Z",
      inputs: {},
    }));
    await test.post(`/v2/${project_id}/calls/complete`, { batch });
    await test.post("/feedback/batch/create", { batch: feedback.map((one) => ({ project_id, ...one })) });
    for (const op of [...OPS, "$in", "$contains"])
      for (const value of op === "$contains" ? ["", "o", "1"] : [0.9, "0.9", true, "good", 1, ""]) {
        const condition = {
          feedback_type: "score",
          json_path: "value",
          op,
          value: op === "$in" ? [value] : value,
        };
        const exists = { $convert: { input: { $getField: "feedback.[score].payload.value" }, to: "exists" } };
        const { $expr } = asQuery(condition, "feedback.[score].payload.value");
        const answer = await test.post("/trace/usage", {
          project_id,
          query: { $expr: { $and: [exists, $expr] } },
        });
        expect(answer.status, answer.text).toBe(200);
        const rows = await test.engine.rows<RatedCall>(
          sql`SELECT * FROM ${ratedCalls(project_id, ratingCondition.parse(condition))}`,
          { name: "test" },
        );
        const passed = rows.filter((row) => row.passed === 1).map(({ call_id }) => call_id);
        const selected = Object.keys(answer.json().call_usage as object);
        expect(passed.toSorted(), JSON.stringify(condition)).toEqual(selected.toSorted());
      }
  });

  it.each([
    ["no path", { op: "$eq", value: 1 }, ["json_path"]],
    ["a blank path", { json_path: " ", op: "$eq", value: 1 }, ["json_path"]],
    ["an empty step", { json_path: "a..b", op: "$eq", value: 1 }, ["json_path"]],
    ["seven indices", { json_path: "0.1.2.3.4.5.6", op: "$eq", value: 1 }, ["json_path"]],
    ["another operator", { json_path: "a", op: "$ne", value: 1 }, ["op"]],
    ["null", { json_path: "a", op: "$eq", value: null }, ["value"]],
    ["an object", { json_path: "a", op: "$eq", value: {} }, ["value"]],
    ["a list without $in", { json_path: "a", op: "$eq", value: [1] }, ["value"]],
    ["$in without a list", { json_path: "a", op: "$in", value: 1 }, ["value"]],
    ["an empty list", { json_path: "a", op: "$in", value: [] }, ["value"]],
    ["a long list", { json_path: "a", op: "$in", value: Array.from({ length: 101 }, () => 1) }, ["value"]],
    ["a number to contain", { json_path: "a", op: "$contains", value: 1 }, ["value"]],
    ["a long text", { json_path: "a", op: "$eq", value: "x".repeat(4097) }, ["value"]],
    ["another member", { json_path: "a", op: "$eq", value: 1, type: "x" }, []],
  ])("are not of %s", (_name, condition, path) => {
    const parsed = ratingCondition.safeParse(condition);
    expect(parsed.error?.issues.map((issue) => issue.path)).toEqual([path]);
  });
});
