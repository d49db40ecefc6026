import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../../src/store/engine.ts";
import { verifyRollup } from "../../src/usage-rollup/verify-rollup.ts";
import { deleteOrphans } from "../../src/usage-rollup/delete-orphans.ts";
import { rowsOf } from "../../src/usage-rollup/rows.ts";
import { createMaterializer } from "../../src/usage-rollup/materializer.ts";
import { param, sql, type Sql } from "../../src/query/sql.ts";
import type { Project } from "../../src/shared/project.ts";
import { forest } from "../models/forests.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { materializeAll, withoutRollup } from "../helpers/materialize.ts";
import { startAppOn, startEngine, type TestApp, type TestEngine } from "../helpers/start-app.ts";
import { messagesOf, step, take, WINDOW } from "../models/usage-history.ts";

const RUNS = runs(1, 12);
const seed = chosenSeed();
const { signal } = new AbortController();

let store: TestEngine;
let test: TestApp;
let live: TestApp;
/** Another replica. */
let other: TestApp;
/** Runs before each statement of a query. */
let disturb: (name: string) => Promise<void> = () => Promise.resolve();
beforeAll(async () => {
  store = await startEngine();
  test = await startAppOn(store.engine, {
    wrapEngine: (engine) => disturbed(engine, (name) => disturb(name)),
  });
  other = await startAppOn(store.engine);
  live = await startAppOn(store.engine, { wrapEngine: withoutRollup });
});
afterAll(async () => {
  await test.close();
  await other.close();
  await live.close();
  await store.close();
});

const window = fc.constantFrom(
  { start: WINDOW.start, end: WINDOW.end },
  { start: "2026-03-28T20:00:00.007Z", end: "2026-03-28T20:00:01Z" },
  { start: "2026-03-28T20:00:01Z", end: "2026-03-30T02:00:00Z" },
);

const query = fc.record({
  timezone: fc.constantFrom("UTC", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu"),
  granularity: fc.constantFrom(3600, 5400, 86_400, undefined),
  group_by: fc.subarray(
    ["llm", "provider", "op_name", "svc_user_id", "status", "api_key", "trace_id", "thread_id"],
    { maxLength: 4 },
  ),
  include_costs: fc.boolean(),
  latency: fc.constantFrom(undefined, {}, { aggregations: ["sum", "count", "min"], percentiles: [50, 95] }),
  limit: fc.integer({ min: 1, max: 20 }),
  filter: fc.constantFrom<unknown>(
    undefined,
    { trace_roots_only: true },
    { op_names: ["op-1", "late"] },
    { svc_user_ids: ["user-1"] },
  ),
});

/** Hours in one slice, and in many. */
const rowsPerFold = fc.constantFrom(50_000, 2, 5);

describe("the usage rollup", () => {
  it("stores an hour and its spans in slices, and serves none of them while one is missing", async () => {
    const project = "acme/parts";
    const call = (trace: number, hour: number) => ({
      id: `c-${trace}-${hour}`,
      trace_id: `t-${trace}`,
      op_name: "o",
      started_at: `2026-03-28T${hour}:10:00Z`,
      ended_at: `2026-03-28T${hour}:11:00Z`,
      inputs: {},
      attributes: {},
      output: null,
      summary: { usage: { "gpt-4o": { requests: 1, prompt_tokens: 2 ** trace } } },
    });
    const traces = Array.from({ length: 8 }, (_, trace) => trace);
    const batch = traces.flatMap((trace) => [call(trace, 20), ...(trace < 4 ? [call(trace, 21)] : [])]);
    await other.post(`/v2/${project}/calls/complete`, { batch });
    const slicesOf = (): Promise<{ first: number; last: number; slices: number; manifests: number }[]> =>
      store.engine.rows(
        sql`SELECT first_hour AS first, last_hour AS last, max(manifest.slices) AS slices, count() AS manifests
            FROM usage_rollup FINAL WHERE project_id = ${param("String", project)} AND kind = 0
            GROUP BY first, last, hour ORDER BY first, last, hour`,
        { name: "test" },
      );
    const readsCalls = async (): Promise<boolean> => {
      const read: string[] = [];
      disturb = async (name) => void read.push(name);
      const body = { project_id: project, ...WINDOW, group_by: ["trace_id"] };
      const answer = await test.post("/usage/stats", body);
      disturb = () => Promise.resolve();
      expect(answer.json()).toEqual((await live.post("/usage/stats", body)).json());
      return read.includes("usage_count");
    };
    const remove = (where: Sql): Promise<void> =>
      store.engine.command(
        sql`ALTER TABLE usage_rollup DELETE WHERE project_id = ${param("String", project)} AND kind = 0
            AND slice = 1 AND ${where} SETTINGS mutations_sync = 2`,
        { name: "test", tables: "per_shard" },
      );
    await materializeAll(store.engine, 2);
    for (const { slices, manifests } of await slicesOf()) {
      expect(slices).toBeGreaterThan(1);
      expect(manifests).toBe(slices);
    }
    expect(await readsCalls()).toBe(false);
    expect((await verifyRollup(store.engine, signal)).different).toEqual([]);
    await remove(sql`first_hour < last_hour`);
    expect(await readsCalls()).toBe(true);
    await remove(sql`first_hour = last_hour`);
    expect(await readsCalls()).toBe(true);
    expect(await materializeAll(store.engine, 3)).toBe(2);
    expect(await readsCalls()).toBe(false);
  });

  it("is updated by a job: past hours that have not changed since the previous run", async () => {
    const project = "acme/kept";
    const materializer = createMaterializer({
      engine: store.engine,
      clock: { now: () => Date.UTC(2026, 2, 28, 22, 30) },
      runExclusive: (work) => work(),
      signal: new AbortController().signal,
    });
    const start = (id: string, started_at: string) =>
      other.post("/call/start", {
        start: {
          project_id: project,
          id,
          trace_id: id,
          op_name: "o",
          started_at,
          inputs: {},
          attributes: {},
        },
      });
    await start("a", "2026-03-28T20:10:00Z");
    await start("now", "2026-03-28T22:10:00Z");
    expect(await materializer.run()).toBe(0);
    await start("b", "2026-03-28T21:10:00Z");
    expect(await materializer.run()).toBe(1);
    expect(await materializer.run()).toBe(1);
    expect(await materializer.run()).toBe(0);
    await start("c", "2026-03-28T21:20:00Z");
    expect(await materializer.run()).toBe(0);
    expect(await materializer.run()).toBe(1);
    const hours = await store.engine.rows<{ hour: number; records: number }>(
      sql`SELECT hour, max(manifest.records) AS records FROM usage_rollup WHERE project_id = 'acme/kept' AND kind = 0 GROUP BY hour ORDER BY hour`,
      { name: "test" },
    );
    expect(hours.map(({ records }) => records)).toEqual([1, 2]);
  });

  it("deletes hours whose calls are gone", async () => {
    const rows = async (): Promise<number> => {
      const found = await store.engine.rows(
        sql`SELECT 1 FROM usage_rollup WHERE project_id = 'acme/orphans'`,
        { name: "test" },
      );
      return found.length;
    };
    const validity = { fingerprint: "1", hourFingerprint: "1", traceSetHash: "0", records: [] };
    const materialized = rowsOf("acme/orphans" as Project, {
      ...validity,
      hour: 7,
      first: 7,
      last: 7,
      slice: 0,
      slices: 1,
    });
    await store.engine.insert("usage_rollup", materialized, { name: "test" });
    expect(await rows()).toBe(1);
    await deleteOrphans(store.engine);
    expect(await rows()).toBe(0);
  });

  it("returns what aggregating the calls returns, after every step", { timeout: 600_000 }, async () => {
    let projects = 0;
    let materialized = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(forest({ maxCalls: 12, inclusive: true, cycles: false, shared: true }), {
          minLength: 1,
          maxLength: 3,
        }),
        fc.array(
          fc.record({
            one: fc.oneof(step, moved),
            asked: query,
            window,
            materializes: fc.option(rowsPerFold, { freq: 1, nil: undefined }),
          }),
          { minLength: 2, maxLength: 5 },
        ),
        fc.nat(3),
        rowsPerFold,
        async (forests, steps, multiHour, atFirst) => {
          const project = `acme/rollup-${projects++}`;
          const batch = forests.flatMap((rows, number) => {
            const messages = messagesOf(rows, `t${number}`);
            return number < multiHour ? messages : inOneHour(messages, 20 + number);
          });
          const stored = await test.post(`/v2/${project}/calls/complete`, { batch });
          expect(stored.json()).toEqual({ rejected: [] });
          const ids = batch.map(({ id }) => id).filter((id) => !id.endsWith("-top"));
          materialized += await materializeAll(store.engine, atFirst);
          for (const [number, { one, asked, window: within, materializes }] of steps.entries()) {
            if (one.kind === "move") await move(one, project, ids);
            else await take((url, body) => test.post(url, body), one, { project, ids, number });
            if (materializes !== undefined) materialized += await materializeAll(store.engine, materializes);
            const body = { project_id: project, ...within, ...asked };
            const [answer, expected] = [
              await test.post("/usage/stats", body),
              await live.post("/usage/stats", body),
            ];
            expect(answer.status, answer.text).toBe(200);
            expect(answer.json()).toEqual(expected.json());
          }
        },
      ),
      { numRuns: RUNS, seed, endOnFailure: true },
    );
    expect(materialized).toBeGreaterThan(RUNS);
  });

  it(
    "counts each trace at one moment, for any change between two statements",
    { timeout: 600_000 },
    async () => {
      let projects = 0;
      const seen = { between: 0 };
      await fc.assert(
        fc.asyncProperty(
          fc.array(forest({ maxCalls: 8, inclusive: true, cycles: false, shared: true }), {
            minLength: 2,
            maxLength: 4,
          }),
          fc.array(fc.array(event, { maxLength: 7 }), { minLength: 2, maxLength: 3 }),
          fc.array(event, { maxLength: 6 }),
          fc.constantFrom(WINDOW, { start: "2026-03-28T21:00:00Z", end: "2026-03-28T23:00:00Z" }),
          async (forests, queries, before, within) => {
            const project = `acme/disturbed-${projects++}`;
            const batch = forests.flatMap((rows, number) =>
              inOneHour(messagesOf(rows, `t${number}`), 20 + number),
            );
            await other.post(`/v2/${project}/calls/complete`, { batch });
            const ids = batch.map(({ id }) => id).filter((id) => !id.endsWith("-top"));
            let number = 0;
            const happen = (one: Event): Promise<unknown> => happens(one, { project, ids, number: number++ });
            const body = {
              project_id: project,
              ...within,
              include_costs: false,
              group_by: ["trace_id"],
              limit: 1000,
            };
            const tracesNow = async (app: TestApp): Promise<ReadonlyMap<string, string>> => {
              const answer = await app.post("/usage/stats", body);
              expect(answer.status, answer.text).toBe(200);
              const groups = answer.json().groups as { key: { trace_id: string }; total: object }[];
              return new Map(groups.map(({ key, total }) => [key.trace_id, JSON.stringify(total)]));
            };
            for (const one of before) await happen(one);
            await materializeAll(store.engine);
            for (const events of queries) {
              const moments = [await tracesNow(live)];
              const waiting = [...events];
              let turn = Promise.resolve();
              let remaining = Infinity;
              const happenNext = async (statement: string): Promise<void> => {
                const one = waiting[0];
                if (one !== undefined && remaining > 0) {
                  waiting.shift();
                  if (one.kind !== "materialize") remaining--;
                  await happen(one);
                  moments.push(await tracesNow(live));
                  seen.between++;
                }
                // counted traces are read under the hours of the count: consistent if at most one event happens until then
                if (statement === "usage_count") remaining = 1;
              };
              disturb = (statement) => (turn = turn.then(() => happenNext(statement)));
              const answer = await tracesNow(test);
              disturb = () => Promise.resolve();
              const traces = new Set([...answer.keys(), ...moments.flatMap((moment) => [...moment.keys()])]);
              for (const trace of traces)
                expect(moments.map((moment) => moment.get(trace))).toContain(answer.get(trace));
            }
          },
        ),
        { numRuns: RUNS, seed, endOnFailure: true },
      );
      expect(seen.between).toBeGreaterThan(RUNS);
    },
  );

  it("stores no record of calls that existed only while they were folded", async () => {
    const project = "acme/gone";
    const call = (id: string) => ({
      id,
      trace_id: "t",
      op_name: "o",
      started_at: "2026-03-28T20:10:00Z",
      ended_at: "2026-03-28T20:11:00Z",
      summary: { usage: { "gpt-4o": { requests: 1, prompt_tokens: 5 } } },
    });
    const send = (id: string) => other.post(`/v2/${project}/calls/complete`, { batch: [call(id)] });
    await send("stays");
    const remove = () =>
      store.engine.command(
        sql`ALTER TABLE calls DELETE WHERE project_id = ${param("String", project)} AND id = 'goes' SETTINGS mutations_sync = 2`,
        { name: "test", tables: "per_shard" },
      );
    const engine = disturbed(store.engine, async (statement) => {
      if (statement === "usage_rollup_read") await send("goes");
      if (statement === "usage_rollup_compare_rows") await remove();
    });
    await materializeAll(engine);
    await remove();
    const written = await store.engine.rows(
      sql`SELECT record_no FROM usage_rollup WHERE project_id = ${param("String", project)}`,
      { name: "test" },
    );
    expect(written).toEqual([]);
    const { total } = (await test.post("/usage/stats", { project_id: project, ...WINDOW })).json();
    expect(total).toMatchObject({ calls: 1, prompt_tokens: 5 });
  });
});

/** Moves the calls of a trace into one hour. */
function inOneHour(messages: ReturnType<typeof messagesOf>, hour: number) {
  return messages.map((message, number) => {
    const started_at = new Date(Date.UTC(2026, 2, 28, hour, 0, 0, number * 370)).toISOString();
    return { ...message, started_at, ended_at: message.ended_at === null ? null : started_at };
  });
}

/** Restarts a call at another time; it stays under its hour bucket. */
const moved = fc.record({
  kind: fc.constant("move" as const),
  pick: fc.nat(1000),
  hour: fc.integer({ min: 17, max: 23 }),
});

async function move(
  { pick, hour }: { readonly pick: number; readonly hour: number },
  project_id: string,
  ids: readonly string[],
): Promise<void> {
  const id = ids[pick % ids.length]!;
  const trace_id = id.split("-")[0]!;
  const at = { trace_id, parent_id: `${trace_id}-top`, started_at: `2026-03-28T${hour}:00:00.500Z` };
  const start = { project_id, id, op_name: "moved", inputs: {}, attributes: {}, ...at };
  const answer = await other.post("/call/start", { start });
  expect(answer.status, answer.text).toBe(200);
}

const event = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("start" as const),
      pick: fc.nat(1000),
      hour: fc.integer({ min: 20, max: 23 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("end" as const), pick: fc.nat(1000), tokens: fc.nat(9000) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const), pick: fc.nat(1000) }) },
  { weight: 1, arbitrary: moved },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("materialize" as const), rowsPerFold }) },
);
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

/** Plays an event: a late complete call, an end, a deletion or a materialization. */
async function happens(
  one: Event,
  { project, ids, number }: { project: string; ids: string[]; number: number },
): Promise<void> {
  if (one.kind === "materialize") {
    await materializeAll(store.engine, one.rowsPerFold);
    return;
  }
  if (one.kind === "move") return move(one, project, ids);
  const id = ids[one.pick % ids.length]!;
  const trace = id.split("-")[0]!;
  const usage = (tokens: number) => ({ usage: { "gpt-4o": { requests: 1, prompt_tokens: tokens } } });
  const messages = {
    start: () => {
      const late = `${trace}-late${number}`;
      const started_at = `2026-03-28T${one.kind === "start" ? one.hour : 0}:30:00Z`;
      const call = { id: late, trace_id: trace, parent_id: id, op_name: "late", inputs: {}, output: null };
      ids.push(late);
      const whole = { ...call, attributes: {}, started_at, ended_at: started_at, summary: usage(number + 1) };
      return [`/v2/${project}/calls/complete`, { batch: [whole] }] as const;
    },
    end: () => {
      const tokens = one.kind === "end" ? one.tokens : 0;
      const end = { project_id: project, id, ended_at: "2026-03-29T12:00:00Z", summary: usage(tokens) };
      return ["/call/end", { end }] as const;
    },
    delete: () => ["/calls/delete", { project_id: project, call_ids: [id] }] as const,
  };
  const [url, body] = messages[one.kind]();
  const answer = await other.post(url, body);
  expect(answer.status, answer.text).toBe(200);
}

/** Wraps the engine: awaits `before` ahead of each statement. */
function disturbed(engine: Engine, before: (name: string) => Promise<void>): Engine {
  const rows: Engine["rows"] = async (query, options) => {
    await before(options.name);
    return engine.rows(query, options);
  };
  const bytes: Engine["bytes"] = async (query, format, options) => {
    // reads calls under hours that an earlier statement resolved
    if (options.name !== "usage_read") await before(options.name);
    return engine.bytes(query, format, options);
  };
  return { ...engine, rows, bytes };
}
