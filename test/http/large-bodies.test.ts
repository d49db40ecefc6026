import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fullRequests } from "../helpers/full-requests.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed, seededRandom } from "../helpers/seeded-random.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";

/** Space around a text changes nothing but its length: with this much, the ingest worker reads it. */
const PADDING = " ".repeat(4_200_000);

/** Ids that the service generates if the client sends none. */
const MADE_ID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

let test: TestApp;
beforeAll(async () => {
  test = await startApp({ deps: { clock: { now: () => Date.UTC(2026, 0, 2) } } });
});
afterAll(() => test.close());

async function answerTo(url: string, payload: string) {
  const headers = {
    authorization: authorization(),
    "content-type": "application/json",
    project_id: "acme/edges",
  };
  const response = await test.app.inject({ method: "POST", url, headers, payload });
  return [
    response.statusCode,
    response.headers["content-type"],
    response.payload.replaceAll(MADE_ID, "made"),
  ];
}

const routes = [
  "/call/start",
  "/call/end",
  "/v2/acme/edges/call/start",
  "/v2/acme/edges/call/end",
  "/call/upsert_batch",
  "/v2/acme/edges/calls/complete",
  "/feedback/create",
  "/feedback/batch/create",
  "/obj/create",
  "/table/create",
  "/otel/v1/traces",
];

function goodFor(route: string): unknown {
  const pattern = `POST ${route.replace("/v2/acme/edges", "/v2/{entity}/{project}")}`;
  return JSON.parse(JSON.stringify(fullRequests[pattern] ?? {}).replaceAll("#", "large"));
}

/** A value with one of its members, however deep, replaced. */
function withFault(value: unknown, steps: readonly number[], fault: unknown): unknown {
  const [step = 0, ...rest] = steps;
  if (typeof value !== "object" || value === null || steps.length === 0) return fault;
  const names = Object.keys(value);
  const name = names[step % Math.max(1, names.length)];
  if (name === undefined) return fault;
  const member = withFault((value as Record<string, unknown>)[name], rest, fault);
  return Array.isArray(value) ? value.with(Number(name), member) : { ...value, [name]: member };
}

const body = fc
  .record({
    route: fc.constantFrom(...routes),
    steps: fc.option(fc.array(fc.nat(30), { maxLength: 5 })),
    fault: fc.jsonValue(),
    cut: fc.option(fc.nat(40), { freq: 5 }),
  })
  .map(({ route, steps, fault, cut }) => {
    const good = goodFor(route);
    const text = JSON.stringify(steps === null ? good : withFault(good, steps, fault));
    return { route, text: cut === null ? text : text.slice(0, Math.max(1, text.length - 1 - cut)) };
  });

it("returns the response of a small body", { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(body, async ({ route, text }) => {
      const small = await answerTo(route, text);
      expect(await answerTo(route, text + PADDING)).toEqual(small);
    }),
    { seed: chosenSeed(), numRuns: runs(20, 400) },
  );
});

it("is stored with every digit and character of its payload", async () => {
  const output = {
    n: [12345678901234567n, "\ud83d\ude00 é\n"].map(String),
    '"\\': PADDING,
    deep: [[[{ a: null }]]],
  };
  const end = { project_id: "acme/large", id: "stored", started_at: "2026-01-01T00:00:00Z", output };
  const call = { ...end, trace_id: "t", op_name: "o", ended_at: "2026-01-01T00:00:01Z" };
  const text = JSON.stringify({ batch: [call] }).replace('"12345678901234567"', "12345678901234567");
  const [status] = await answerTo("/v2/acme/large/calls/complete", text);
  const response = await test.post("/call/read", { project_id: "acme/large", id: "stored" });
  expect([status, response.text.includes("12345678901234567,")]).toEqual([200, true]);
  expect((response.json() as { call: { output: typeof output } }).call.output['"\\']).toBe(PADDING);
});

/** A forest of calls without traces, in any order: the parent of each is one of those before it, or none. */
const forest = fc.integer({ min: 2, max: 4000 }).chain((count) =>
  fc.record({
    parents: fc.array(fc.option(fc.nat(), { freq: 20 }), { minLength: count, maxLength: count }),
    order: fc.constantFrom("parents first", "parents last", "mixed"),
    seed: fc.integer(),
  }),
);
let forests = 0;

it("assigns a call the trace of its parent, at any position in the body", { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(forest, async ({ parents, order, seed }) => {
      const name = `f${forests++}`;
      const id = (at: number): string => `${name}-${at}`;
      const above = (at: number): number | undefined => {
        const parent = parents[at];
        return at === 0 || parent == null ? undefined : parent % at;
      };
      const rootOf = (at: number): number => {
        const parent = above(at);
        return parent === undefined ? at : rootOf(parent);
      };
      const random = seededRandom(seed);
      const places = parents.map((_, at) => ({ at, key: order === "mixed" ? random.next() : at }));
      places.sort((one, other) => (order === "parents last" ? other.key - one.key : one.key - other.key));
      const batch = places.map(({ at }) => {
        const parent = above(at);
        const parent_id = parent === undefined ? {} : { parent_id: id(parent) };
        const start = {
          project_id: "acme/forest",
          id: id(at),
          op_name: "o",
          started_at: "2026-01-01T00:00:00Z",
        };
        return { mode: "start", req: { start: { ...start, ...parent_id } } };
      });
      const [status, , text] = await answerTo("/call/upsert_batch", JSON.stringify({ batch }) + PADDING);
      expect(status).toBe(200);
      const { res } = JSON.parse(String(text)) as { res: { id: string; trace_id: string }[] };
      const traceOf = new Map(res.map((one) => [one.id, one.trace_id]));
      for (const at of parents.keys()) expect(traceOf.get(id(at))).toBe(traceOf.get(id(rootOf(at))));
    }),
    { seed: chosenSeed(), numRuns: runs(3, 40), endOnFailure: true },
  );
});
