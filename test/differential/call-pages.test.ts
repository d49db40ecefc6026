import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

const RUNS = runs(2, 100);
const HOUR_US = 3_600_000_000;
const { seed } = seededRandom();

let test: TestApp;
let projects = 0;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

interface Call {
  readonly id: string;
  readonly trace_id: string;
  readonly op_name: string;
  readonly started_at: string;
}

interface Page {
  readonly calls: readonly string[];
  readonly next: string | undefined;
}

async function ask(body: object): Promise<Page> {
  const response = await test.post("/calls/stream_query", { columns: ["id"], ...body });
  expect(response.status, response.text).toBe(200);
  return {
    calls: response.text
      .split("\n")
      .slice(0, -1)
      .map((line) => nameOf(JSON.parse(line) as Call)),
    next: response.headers["x-next-page-token"] as string | undefined,
  };
}

/** The calls of all pages; `limits` in turn. */
async function walked(body: object, limits: readonly number[]): Promise<readonly string[]> {
  const found: string[] = [];
  let page_token: string | undefined;
  let pages = 0;
  do {
    const { calls, next } = await ask({ ...body, limit: limits[pages++ % limits.length], page_token });
    expect(calls.length > 0 || next === undefined).toBe(true);
    found.push(...calls);
    page_token = next;
  } while (page_token !== undefined);
  return found;
}

async function start(project_id: string, calls: readonly Call[]): Promise<void> {
  const batch = calls.map((call) => ({ mode: "start", req: { start: { project_id, ...call } } }));
  const response = await test.post("/call/upsert_batch", { batch });
  expect(response.json().rejected).toEqual([]);
}

const nameOf = ({ trace_id, id }: Pick<Call, "trace_id" | "id">): string => JSON.stringify([trace_id, id]);
const bytes = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));
const inOrder = (one: Call, other: Call): number =>
  bytes(one.started_at, other.started_at) || bytes(one.id, other.id) || bytes(one.trace_id, other.trace_id);

/** Few instants, so that many calls share one: in one hour, or hours, years and centuries apart. */
const instants = fc
  .array(
    fc
      .tuple(
        fc.constantFrom(0, 1, 2, 5, 21, 85, 9000, -1, -4, -620_000),
        fc.constantFrom(0, 1, 1000, HOUR_US - 1),
      )
      .map(([hours, us]) => {
        const ms = Date.UTC(2026, 0, 31, 23) + (hours * HOUR_US + (us - (us % 1000))) / 1000;
        return new Date(ms).toISOString().replace("Z", `${String(us % 1000).padStart(3, "0")}Z`);
      }),
    { minLength: 1, maxLength: 6 },
  )
  .map((some) => [...new Set(some)]);
/** Beyond the basic plane, where the order of bytes is not that of UTF-16. */
const id = fc.oneof(
  fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom("a", "B", "é", "\uFFFD", "🙂", "'", "\n") }),
);
const calls = instants.chain((some) =>
  fc.uniqueArray(
    fc.record({
      id,
      trace_id: fc.constantFrom("t", "u", "ü"),
      op_name: fc.constantFrom("o", "p"),
      started_at: fc.constantFrom(...some),
    }),
    { minLength: 1, maxLength: 60, selector: nameOf },
  ),
);
const asked = fc.record({
  direction: fc.constantFrom("asc" as const, "desc" as const),
  limits: fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constant(20_000)), {
    minLength: 1,
    maxLength: 3,
  }),
  op: fc.option(fc.constantFrom("o", "p")),
});

describe(`pages of calls (seed ${seed})`, () => {
  it("contain every call once, in order, for any times and sizes", async () => {
    const property = fc.asyncProperty(
      calls,
      fc.array(asked, { minLength: 2, maxLength: 3 }),
      async (sent, questions) => {
        const project_id = `acme/pages-${projects++}`;
        await start(project_id, sent);
        for (const { direction, limits, op } of questions) {
          const filter = op === null ? undefined : { op_names: [op] };
          const sort_by = [{ field: "started_at", direction }];
          const expected = sent
            .filter((call) => op === null || call.op_name === op)
            .toSorted(inOrder)
            .map(nameOf);
          if (direction === "desc") expected.reverse();
          expect(await walked({ project_id, filter, sort_by }, limits)).toEqual(expected);
        }
      },
    );
    await fc.assert(property, { numRuns: RUNS, seed });
  });

  it("contain a kept call once, for any concurrent changes to others", async () => {
    const change = fc.record({
      kind: fc.constantFrom("deleted" as const, "started again" as const, "ended" as const, "new" as const),
      at: fc.nat(),
      started_at: fc.constantFrom(
        "2026-01-31T22:59:59.999999Z",
        "2026-02-01T00:00:00Z",
        "1955-01-01T00:00:00Z",
      ),
    });
    const walk = fc.record({
      direction: asked.map(({ direction }) => direction),
      limit: fc.integer({ min: 1, max: 9 }),
      changes: fc.array(change, { minLength: 1, maxLength: 8 }),
    });
    const property = fc.asyncProperty(calls, walk, async (sent, { direction, limit, changes }) => {
      const project_id = `acme/pages-${projects++}`;
      await start(project_id, sent);
      // an id that two traces have is deleted in both
      const changed = new Set<string>();
      const take = async ({ kind, at, started_at }: (typeof changes)[number], place: number) => {
        const call = sent[at % sent.length]!;
        if (kind === "new") return start(project_id, [{ ...call, id: `new-${place}`, started_at }]);
        if (kind === "ended")
          return test.post("/call/end", {
            end: { project_id, id: call.id, ended_at: started_at, summary: {} },
          });
        changed.add(call.id);
        if (kind === "deleted") return test.post("/calls/delete", { project_id, call_ids: [call.id] });
        return start(project_id, [{ ...call, started_at }]);
      };
      const found: string[] = [];
      let page_token: string | undefined;
      let pages = 0;
      do {
        const sort_by = [{ field: "started_at", direction }];
        const page = await ask({ project_id, sort_by, limit, page_token });
        found.push(...page.calls);
        page_token = page.next;
        if (pages < changes.length) await take(changes[pages]!, pages);
        pages++;
      } while (page_token !== undefined);
      const stays = sent.filter(({ id: one }) => !changed.has(one)).map(nameOf);
      expect(found.filter((name) => stays.includes(name)).toSorted()).toEqual(stays.toSorted());
    });
    await fc.assert(property, { numRuns: Math.ceil(RUNS / 2), seed });
  });
});

describe("the token of a page", () => {
  const project_id = "acme/tokens";
  const filter = { op_names: ["o"] };
  const query = { $expr: { $gt: [{ $getField: "started_at" }, { $literal: "2025-01-01" }] } };
  const question = { project_id, filter, query, limit: 1 };
  const started_at = "2026-01-01T00:00:00.000000Z";
  let token: string;
  beforeAll(async () => {
    await start(
      project_id,
      ["a", "b", "c"].map((one) => ({ id: one, trace_id: "t", op_name: "o", started_at })),
    );
    token = (await ask(question)).next!;
  });

  it("returns the next calls, also without repeating their order", async () => {
    expect((await ask({ ...question, limit: 5, page_token: token })).calls).toEqual(
      ["b", "c"].map((one) => nameOf({ trace_id: "t", id: one })),
    );
    expect((await ask({ ...question, offset: 1, page_token: token })).calls).toEqual([
      nameOf({ trace_id: "t", id: "c" }),
    ]);
  });

  it.each([
    ["project", { project_id: "acme/other" }],
    ["filter", { filter: { op_names: ["p"] } }],
    ["filter, left out", { filter: undefined }],
    ["query", { query: { $expr: { $lt: [{ $getField: "started_at" }, { $literal: "2027-01-01" }] } } }],
    ["direction", { sort_by: [{ field: "started_at", direction: "desc" }] }],
    ["order", { sort_by: [{ field: "id", direction: "asc" }] }],
  ])("is rejected with another %s", async (_what, other) => {
    const response = await test.post("/calls/stream_query", { ...question, ...other, page_token: token });
    expect(response.status).toBe(422);
    expect(response.json().detail).toMatchObject([{ loc: ["body", "page_token"], type: "page_token" }]);
  });

  it("is rejected if it is invalid", async () => {
    const json = JSON.parse(Buffer.from(token, "base64url").toString()) as unknown[];
    const spoilt = [
      json.slice(1),
      json.with(2, "now"),
      json.with(1, "up"),
      Object.fromEntries(json.entries()),
    ].map((value) => Buffer.from(JSON.stringify(value)).toString("base64url"));
    for (const page_token of ["", "x", token.slice(0, -2), `${token}AA`, ...spoilt]) {
      const response = await test.post("/calls/stream_query", { ...question, page_token });
      expect([page_token, response.status]).toEqual([page_token, 422]);
    }
  });

  it("can contain the longest ids", async () => {
    const longest = { project_id: "acme/longest" };
    const trace_id = "\u0001".repeat(512);
    const ids = ["\u0001", "\u0002", "🙂"].map((unit) => unit.repeat(512));
    await start(
      longest.project_id,
      ids.map((one) => ({ id: one, trace_id, op_name: "o", started_at })),
    );
    expect(await walked(longest, [1])).toEqual(ids.map((one) => nameOf({ trace_id, id: one })));
  });
});
