import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readStoredBytes } from "../../src/admin/stored/read-stored-bytes.ts";
import { sql, trusted } from "../../src/query/sql.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { startEngine, type TestEngine } from "../helpers/start-app.ts";

const options = { name: "test" };
const OF_A_ROW = 128;

/** The columns that count, and a key in two forms: rows of one key become one row when they are merged. */
const TABLES = {
  calls: {
    payloads: ["inputs", "attributes", "output", "summary", "exception"],
    key: (id: string) => ({ hour: 490_000, trace_id: "t", id }),
  },
  pending_call_events: {
    payloads: ["columns"],
    key: (id: string) => ({ id, kind: "end", columns_hash: "h", version: 1, resolved: 0 }),
  },
  feedback: {
    payloads: ["payload", "scorer"],
    key: (id: string) => ({ created_at: "2026-01-01 00:00:00.000000", id, version: 1, deleted: 0 }),
  },
  objects: {
    payloads: ["val"],
    key: (id: string) => ({ object_id: id, digest: "d", created_at: "2026-01-01 00:00:00.000000" }),
  },
  data_table_rows: { payloads: ["val"], key: (digest: string) => ({ digest }) },
  file_chunks: { payloads: ["content"], key: (digest: string) => ({ digest, chunk: 0, chunk_count: 1 }) },
} as const;
type Table = keyof typeof TABLES;
const names = Object.keys(TABLES) as Table[];

const row = fc.record({
  project: fc.constantFrom("acme/a", "acme/b"),
  id: fc.nat(2),
  payload: fc.nat(4),
  length: fc.constantFrom(0, 1, 7, 1000),
});
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant("insert" as const),
      table: fc.constantFrom(...names),
      rows: fc.array(row, { minLength: 1, maxLength: 5 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant("merge" as const), table: fc.constantFrom(...names) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant("delete" as const),
      table: fc.constantFrom(...names),
      project: fc.constantFrom("acme/a", "acme/b"),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

let test: TestEngine;
beforeAll(async () => {
  test = await startEngine();
});
afterAll(() => test.close());

async function apply(one: Step): Promise<void> {
  const { engine } = test;
  const each = { ...options, tables: "per_shard" } as const;
  const table = trusted(one.table);
  if (one.does === "merge") await engine.command(sql`OPTIMIZE TABLE ${table} FINAL`, each);
  else if (one.does === "delete") {
    // as the service deletes: the value is one of two of ours
    const where = one.project === "acme/a" ? sql`project_id = 'acme/a'` : sql`project_id = 'acme/b'`;
    await engine.command(sql`ALTER TABLE ${table} DELETE WHERE ${where} SETTINGS mutations_sync = 2`, each);
  } else {
    const { payloads, key } = TABLES[one.table];
    const rows = one.rows.map(({ project, id, payload, length }) => ({
      project_id: project,
      ...key(String(id)),
      [payloads[payload % payloads.length]!]: "x".repeat(length),
    }));
    await engine.insert(one.table, rows, options);
  }
}

/** Reads the rows that there are, merged or not, and measures them here. */
async function measure(): Promise<Record<string, number>> {
  const held: Record<string, number> = {};
  for (const name of names) {
    const columns = TABLES[name].payloads.map((payload) => `ifNull(${payload}, '') AS p_${payload}`);
    const rows = await test.engine.rows<Record<string, string>>(
      sql`SELECT project_id, ${trusted(columns.join(", "))} FROM ${trusted(name)} SETTINGS optimize_use_projections = 0`,
      options,
    );
    for (const { project_id: project, ...payloads } of rows) {
      const bytes = Object.values(payloads).reduce((sum, text) => sum + text.length, OF_A_ROW);
      held[project!] = (held[project!] ?? 0) + bytes;
    }
  }
  return held;
}

/** The engine may merge parts between two readings: then both are read again. */
async function compare(): Promise<void> {
  for (;;) {
    const before = await measure();
    const found = Object.fromEntries(await readStoredBytes(test.engine));
    if (!isDeepStrictEqual(before, await measure())) continue;
    expect(found).toEqual(before);
    return;
  }
}

it(
  "the stored bytes of each project are correct after writes, merges and deletions",
  { timeout: 300_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 10 }), async (steps) => {
        for (const one of steps) await apply(one);
        await compare();
      }),
      { numRuns: runs(10, 150), seed: chosenSeed() },
    );
  },
);

it("reads projections, not rows", async () => {
  const rows = Array.from({ length: 20_000 }, (_, n) => ({
    project_id: "acme/many",
    ...TABLES.calls.key(`n${n}`),
    inputs: "y",
  }));
  await test.engine.insert("calls", rows, options);
  let read = 0;
  const counting: Parameters<typeof readStoredBytes>[0] = {
    rows: (query, given) =>
      test.engine.rows(query, { ...given, onRead: (stats) => (read = Math.max(read, stats.rows)) }),
  };
  expect((await readStoredBytes(counting)).get("acme/many")).toBe(20_000 * (OF_A_ROW + 1));
  expect(read).toBeLessThan(2000);
});
