import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmbedded } from "../src/store/connect.ts";
import type { Engine } from "../src/store/engine.ts";
import { trusted } from "../src/query/sql.ts";
import { spreadOf, timeInTurn, type Scenario, type ScenarioResult, type Spread } from "./scenario.ts";

const CALLS = 1_000_000;
const CALLS_PER_TRACE = 1000;
const INSERTS = 20;
const CALLS_PER_INSERT = CALLS / INSERTS;
const ROUNDS = 5;

/** A way to store calls: a part for each message, or one whole row paired in advance. */
interface Candidate {
  readonly table: string;
  readonly what: string;
  readonly engine: string;
  readonly columnType: (type: string) => string;
  readonly inserts: readonly (readonly Column[])[];
}

interface Column {
  readonly name: string;
  readonly type: string;
  /** Value of the call with this `number`. */
  readonly value: string;
}

const STARTED = "toDateTime64('2026-01-01 00:00:00', 6, 'UTC') + number / 1000";
const start: readonly Column[] = [
  { name: "parent_id", type: "String", value: "if(number % 1000 = 0, '', toString(intDiv(number, 10)))" },
  { name: "started_at", type: "DateTime64(6, 'UTC')", value: STARTED },
  {
    name: "inputs",
    type: "String",
    value: `concat('{"question":"', repeat(hex(sipHash64(number)), 15), '","n":', toString(number % 1000), '}')`,
  },
];
const end: readonly Column[] = [
  { name: "ended_at", type: "DateTime64(6, 'UTC')", value: `${STARTED} + 1` },
  {
    name: "output",
    type: "String",
    value: `concat('{"answer":"', repeat(hex(sipHash64(number + 1)), 10), '"}')`,
  },
  {
    name: "usage",
    type: "String",
    value: "concat('[[\"gpt-4o\",1,', toString(number % 500), ',80,1080,0,0,0]]')",
  },
];

const folding = (type: string): string => `SimpleAggregateFunction(anyLast, Nullable(${type}))`;
const parts = [start, end];
const ours: Candidate = {
  table: "aggregating",
  what: "AggregatingMergeTree, start row + end row",
  engine: "AggregatingMergeTree",
  columnType: folding,
  inserts: parts,
};
const others: readonly Candidate[] = [
  {
    table: "coalescing",
    what: "CoalescingMergeTree, start row + end row",
    engine: "CoalescingMergeTree",
    columnType: (type) => `Nullable(${type})`,
    inserts: parts,
  },
  {
    table: "replacing",
    what: "ReplacingMergeTree, whole rows",
    engine: "ReplacingMergeTree",
    columnType: (type) => `Nullable(${type})`,
    inserts: [[...start, ...end]],
  },
];
const candidates = [ours, ...others];

const TRACE = "project_id = 'p' AND trace_id = '500'";
const questions: Readonly<Record<string, (table: string) => string>> = {
  "a trace": (table) =>
    `SELECT id, parent_id, ended_at, usage FROM ${table} FINAL PREWHERE ${TRACE} FORMAT Native`,
  "narrow columns of all calls": (table) =>
    `SELECT count(), countIf(ended_at IS NULL), sum(length(usage)) FROM ${table} FINAL FORMAT Native`,
  "a JSON condition on all calls": (table) =>
    `SELECT count() FROM ${table} FINAL WHERE JSONExtractInt(assumeNotNull(inputs), 'n') = 7 FORMAT Native`,
};

async function run(engine: Engine, statement: string): Promise<void> {
  await engine.command(trusted(statement), { name: "bench_storage", limits: "maintenance" });
}

async function create(engine: Engine, { table, engine: kind, columnType }: Candidate): Promise<void> {
  const columns = [...start, ...end].map(({ name, type }) => `${name} ${columnType(type)} CODEC(ZSTD(1))`);
  await run(
    engine,
    `CREATE TABLE ${table} (project_id LowCardinality(String), trace_id String, id String, ${columns.join(", ")})
     ENGINE = ${kind} ORDER BY (project_id, trace_id, id) SETTINGS fsync_after_insert = 1`,
  );
  await run(engine, `SYSTEM STOP MERGES ${table}`);
}

/** Milliseconds for all calls. */
async function load(engine: Engine, { table, inserts }: Candidate): Promise<number> {
  const began = performance.now();
  for (let insert = 0; insert < INSERTS; insert++) {
    for (const columns of inserts) {
      await run(
        engine,
        `INSERT INTO ${table} (project_id, trace_id, id, ${columns.map(({ name }) => name).join(", ")})
         SELECT 'p', toString(intDiv(number, ${CALLS_PER_TRACE})), toString(number), ${columns.map(({ value }) => value).join(", ")}
         FROM numbers(${insert * CALLS_PER_INSERT}, ${CALLS_PER_INSERT}) SETTINGS max_insert_threads = 1`,
      );
    }
  }
  return performance.now() - began;
}

function compare(what: string, times: Readonly<Record<string, Spread>>): ScenarioResult[] {
  return others.map((other) => ({
    what: `${what}: ${ours.what}`,
    subject: times[ours.table]!,
    against: { what: other.what, spread: times[other.table]! },
    unit: "ms",
    target: undefined,
  }));
}

async function ask(engine: Engine, state: string): Promise<ScenarioResult[]> {
  const results: ScenarioResult[] = [];
  for (const [question, statement] of Object.entries(questions)) {
    const alternatives = candidates.map(({ table }) => [table, () => run(engine, statement(table))] as const);
    const times = await timeInTurn(ROUNDS, Object.fromEntries(alternatives));
    results.push(...compare(`${question}, ${state}`, times));
  }
  return results;
}

/** The candidates of docs/decisions/0001-call-storage.md. */
export const scenario: Scenario = {
  name: "storage",
  async run() {
    const dir = mkdtempSync(join(tmpdir(), "sumtree-bench-"));
    const engine = await openEmbedded(dir);
    try {
      const loading: Record<string, Spread> = {};
      for (const candidate of candidates) {
        await create(engine, candidate);
        loading[candidate.table] = spreadOf([await load(engine, candidate)]);
      }
      const unmerged = await ask(engine, "unmerged");
      for (const { table } of candidates) {
        await run(engine, `SYSTEM START MERGES ${table}`);
        await run(engine, `OPTIMIZE TABLE ${table} FINAL`);
      }
      return [...unmerged, ...(await ask(engine, "merged")), ...compare("storing all calls", loading)];
    } finally {
      await engine.close();
      rmSync(dir, { recursive: true, force: true });
    }
  },
};
