import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { param, sql } from "../../src/query/sql.ts";
import { forest, type CallRow } from "../models/forests.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

/** Forests per run; each is one trace with deleted calls, missing parents and unfinished calls. */
const FORESTS = runs(500, 10_000);

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

interface SqlTotal {
  readonly trace_id: string;
  readonly root: string;
  readonly llm: string;
  readonly requests: number;
  readonly prompt: number;
  readonly completion: number;
  readonly total: number;
}

/** What every call and all its descendants used, by a recursive query over what is stored. */
function rollUpInSql(project: string): Promise<SqlTotal[]> {
  return test.engine.rows<SqlTotal>(
    sql`WITH RECURSIVE live AS (
          SELECT trace_id, id, ifNull(parent_id, '') AS parent_id, usage FROM calls FINAL
          WHERE project_id = ${param("String", project)} AND deleted_at IS NULL AND started_at IS NOT NULL
        ), below AS (
          SELECT trace_id, id AS root, id FROM live
          UNION ALL
          SELECT below.trace_id, below.root, live.id FROM below
          JOIN live ON live.trace_id = below.trace_id AND live.parent_id = below.id
        ), used AS (
          SELECT trace_id, id, arrayJoin(JSONExtract(assumeNotNull(usage), 'Array(Tuple(String, UInt64, UInt64, UInt64, UInt64))')) AS u
          FROM live WHERE usage IS NOT NULL
        )
        SELECT below.trace_id AS trace_id, root, u.1 AS llm, sum(u.2) AS requests, sum(u.3) AS prompt,
               sum(u.4) AS completion, sum(u.5) AS total
        FROM below JOIN used ON used.trace_id = below.trace_id AND used.id = below.id
        GROUP BY trace_id, root, llm
        SETTINGS max_recursive_cte_evaluation_depth = 10000`,
    { name: "oracle" },
  );
}

function messages(calls: readonly CallRow[], trace: string) {
  return calls.map((call) => ({
    id: `${trace}-${call.id}`,
    trace_id: trace,
    parent_id: call.parentId === "" ? null : `${trace}-${call.parentId}`,
    op_name: "op",
    started_at: new Date(1_700_000_000_000 + call.startedAtMs).toISOString(),
    ended_at: call.finished ? new Date(1_700_000_002_000 + call.startedAtMs).toISOString() : null,
    inputs: { selected: call.selected },
    attributes: {},
    output: null,
    summary: {
      usage: Object.fromEntries(
        call.usage.map((usage) => [
          usage.llm,
          {
            requests: usage.requests,
            prompt_tokens: usage.promptTokens,
            completion_tokens: usage.completionTokens,
            total_tokens: usage.totalTokens,
          },
        ]),
      ),
    },
  }));
}

type Entry = Readonly<Record<string, number>>;

describe("POST /trace/usage against a recursive query", () => {
  it(`agrees on ${FORESTS} random forests with deleted calls and selections smaller than the tree`, async () => {
    const seed = chosenSeed();
    const forests = fc.sample(forest({ maxCalls: 12, inclusive: false, cycles: false }), {
      numRuns: FORESTS,
      seed,
    });
    const all = forests.map((calls, number) => messages(calls, `t${number}`));
    for (let from = 0; from < all.length; from += 500) {
      const answer = await test.post("/v2/acme/sql/calls/complete", {
        batch: all.slice(from, from + 500).flat(),
      });
      expect(answer.json()).toEqual({ rejected: [] });
    }
    // every fifth forest loses its second call, and with it everything below
    const doomed = all
      .filter((calls, number) => number % 5 === 0 && calls.length > 1)
      .map((calls) => calls[1]!.id);
    await test.post("/calls/delete", { project_id: "acme/sql", call_ids: doomed });

    const oracle = new Map<string, Record<string, readonly number[]>>();
    for (const row of await rollUpInSql("acme/sql")) {
      const perLlm = oracle.get(row.root) ?? {};
      if (row.requests + row.prompt + row.completion + row.total > 0)
        perLlm[row.llm] = [row.requests, row.prompt, row.completion, row.total];
      oracle.set(row.root, perLlm);
    }
    const whole = await test.post("/trace/usage", { project_id: "acme/sql", limit: 1_000_000 });
    const usage = whole.json().call_usage as Record<string, Record<string, Entry>>;
    const deleted = new Set(doomed);
    expect(
      Object.keys(usage).some((id) => deleted.has(id)),
      `seed ${seed}`,
    ).toBe(false);
    for (const [id, perLlm] of Object.entries(usage)) {
      const got = Object.fromEntries(
        Object.entries(perLlm).map(([llm, entry]) => [
          llm,
          [entry["requests"], entry["prompt_tokens"], entry["completion_tokens"], entry["total_tokens"]],
        ]),
      );
      expect(got, `seed ${seed}, call ${id}`).toEqual(oracle.get(id) ?? {});
    }

    const roots = await test.post("/trace/usage", {
      project_id: "acme/sql",
      limit: 1_000_000,
      filter: { trace_roots_only: true },
    });
    for (const [id, perLlm] of Object.entries(roots.json().call_usage as object))
      expect(perLlm).toEqual(usage[id]);
    const some = Object.keys(usage)
      .filter((_, number) => number % 7 === 0)
      .slice(0, 500);
    const chosen = await test.post("/calls/usage", { project_id: "acme/sql", call_ids: some });
    expect(chosen.json().call_usage).toEqual(Object.fromEntries(some.map((id) => [id, usage[id]])));
  });
});
