import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { columns, computedColumns } from "../../src/query/fields/columns.ts";
import { callsFilter } from "../../src/query/read/wire-schema.ts";
import { operators } from "../../src/query/read/operators.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

const page = readFileSync(`${import.meta.dirname}/../../docs/query-language.md`, "utf8");
const project_id = "acme/assist";

interface Example {
  readonly kind: string;
  readonly json: unknown;
  readonly answer: readonly string[];
}

/** Blocks of JSON with a line behind them that begins with an arrow. */
const examples = [...page.matchAll(/```json ?(\w*)\n([^`]*)```\n→ (.*)/g)].map(
  ([, kind, json, answer]): Example => ({
    kind: kind!,
    json: JSON.parse(json!),
    answer: answer === "none" ? [] : answer!.split(", "),
  }),
);

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
  const calls = JSON.parse(/```json calls\n([^`]*)```/.exec(page)![1]!) as unknown[];
  const response = await test.post(`/v2/${project_id}/calls/complete`, { batch: calls });
  expect(response.json()).toEqual({ rejected: [] });
  for (const [call, score] of [
    ["c1", 0.2],
    ["c1", 0.9],
    ["c2", 0.4],
  ] as const) {
    await test.post("/feedback/create", {
      project_id,
      weave_ref: `weave:///${project_id}/call/${call}`,
      feedback_type: "tone",
      payload: { score },
    });
  }
});
afterAll(() => test.close());

function ask(example: Example) {
  const selected = example.kind === "filter" ? { filter: example.json } : { query: example.json };
  return test.post("/trace/usage", { project_id, ...selected });
}

describe("docs/query-language.md", () => {
  it.each(examples.filter(({ kind }) => kind !== "refused"))(
    "returns the documented result: $json",
    async (example) => {
      const response = await ask(example);
      expect(response.status, response.text).toBe(200);
      expect(Object.keys((response.json() as { call_usage: object }).call_usage).toSorted()).toEqual(
        example.answer,
      );
    },
  );

  it.each(examples.filter(({ kind }) => kind === "refused"))(
    "is rejected as documented: $json",
    async (example) => {
      const response = await ask(example);
      expect(response.status).toBe(422);
      const { detail } = response.json() as { detail: { loc: unknown[]; type: string }[] };
      expect(detail.map(({ loc, type }) => `${loc.slice(1).join(".")} ${type}`)).toEqual(example.answer);
    },
  );

  it.each([...operators.keys()])("has an example of %s", (operator) => {
    expect(page).toContain(`{"${operator}":`);
  });

  it.each([
    ...columns.keys(),
    ...[...computedColumns.keys()].map((name) => `summary.weave.${name}`),
    ...Object.keys(callsFilter.shape),
  ])("names %s", (name) => {
    expect(page).toContain(`\`${name}\``);
  });
});
