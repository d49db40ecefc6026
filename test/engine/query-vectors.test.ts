import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  defaultSelectionLimits,
  compileQuery,
  selectCalls,
  callsFilter,
  type CallsFilter,
} from "../../src/query/index.ts";
import { sql } from "../../src/query/sql.ts";
import type { Project } from "../../src/shared/project.ts";
import vectors from "../fixtures/vectors/query.json" with { type: "json" };
import { startEngine, type TestEngine } from "../helpers/start-app.ts";
import { storeCalls } from "../helpers/stored-calls.ts";

interface QueryCase {
  readonly name: string;
  readonly filter?: unknown;
  readonly query?: unknown;
  readonly limit?: number;
  readonly expect_ids: readonly string[];
  readonly expect_error?: number;
  readonly ordered?: boolean;
}

let test: TestEngine;
const project = "acme/demo" as Project;
const cases = vectors.cases as readonly QueryCase[];

beforeAll(async () => {
  test = await startEngine();
  await storeCalls(test.engine, vectors.calls);
});
afterAll(() => test.close());

describe("the query vectors on the engine", () => {
  it.each(cases.filter((item) => item.expect_error === undefined))("$name", async (item) => {
    const query = item.query === undefined ? undefined : compileQuery(item.query, { project });
    if (query?.ok === false) throw new Error(JSON.stringify(query.issues));
    const statement = selectCalls({
      project,
      columns: sql`id`,
      filter: item.filter as CallsFilter | undefined,
      query,
      ...(item.limit === undefined ? {} : { limit: item.limit }),
    });
    const rows = await test.engine.rows<{ id: string }>(statement, { name: "test_select" });
    const ids = rows.map((row) => row.id);
    expect(item.ordered === true ? ids : ids.toSorted()).toEqual(
      item.ordered === true ? item.expect_ids : item.expect_ids.toSorted(),
    );
  });

  it.each(cases.filter((item) => item.expect_error !== undefined))("refuses $name", (item) => {
    // The case with a list of 1,001 is of a server that allows 1,000.
    const limits = { ...defaultSelectionLimits, maxFilterMembers: 1000 };
    const refusedFilter = !callsFilter(limits).nullish().safeParse(item.filter).success;
    const refusedQuery = item.query !== undefined && !compileQuery(item.query, { project }).ok;
    expect(refusedFilter || refusedQuery).toBe(true);
  });
});
