import { createHash } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { param, sql } from "../../src/query/sql.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp({ settings: { RATE_LIMIT_PER_MINUTE: "1000000000" } });
});
afterAll(() => test.close());

/** A call of a batch; `parent` is the place of another one before it. */
const call = fc.record({
  parent: fc.option(fc.nat(), { nil: undefined }),
  ownTrace: fc.boolean(),
  month: fc.nat(30),
  /** Months of further starts, which say another name. */
  again: fc.array(fc.nat(30), { maxLength: 2 }),
  ends: fc.nat(2),
});
type Call = typeof call extends fc.Arbitrary<infer One> ? One : never;

const HOUR_MS = 3_600_000;
const instant = (month: number): number => Date.UTC(2020, month, 3, 4);

interface Message {
  readonly of: number;
  readonly kind: "start" | "end";
  readonly month: number;
  readonly says: string;
}

function messagesOf(calls: readonly Call[]): readonly Message[] {
  return calls.flatMap(({ month, again, ends }, of) => [
    ...[month, ...again].map((at, n) => ({ of, kind: "start" as const, month: at, says: `${of}-${n}` })),
    ...Array.from({ length: ends }, (_, n) => ({ of, kind: "end" as const, month, says: `${of}-${n}` })),
  ]);
}

let count = 0;

describe("a batch of calls of many months", () => {
  it("is stored as a batch of one month is", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { minLength: 1, maxLength: 25 }).chain((calls) =>
          fc.record({
            calls: fc.constant(calls),
            order: fc.shuffledSubarray([...messagesOf(calls).keys()], {
              minLength: messagesOf(calls).length,
            }),
          }),
        ),
        async ({ calls, order }) => {
          const project_id = `acme/months-${count++}`;
          const idOf = (at: number): string => `${project_id} ${at}`;
          const parentOf = (at: number): number | undefined => {
            const { parent } = calls[at]!;
            return parent === undefined || at === 0 ? undefined : parent % at;
          };
          const traceOf = (at: number): string => {
            if (calls[at]!.ownTrace) return `trace ${at}`;
            const parent = parentOf(at);
            if (parent !== undefined) return traceOf(parent);
            return createHash("sha256")
              .update(JSON.stringify([project_id, idOf(at)]))
              .digest("hex")
              .slice(0, 32);
          };
          const all = messagesOf(calls);
          const messages = order.map((at) => all[at]!);
          const batch = messages.map(({ of, kind, month, says }) => {
            const at = new Date(instant(month)).toISOString();
            if (kind === "end") {
              const end = { project_id, id: idOf(of), ended_at: at, output: says, summary: {} };
              return { mode: "end", req: { end } };
            }
            const parent = parentOf(of);
            const start = {
              project_id,
              id: idOf(of),
              trace_id: calls[of]!.ownTrace ? traceOf(of) : null,
              parent_id: parent === undefined ? null : idOf(parent),
              op_name: says,
              started_at: at,
              inputs: {},
              attributes: {},
            };
            return { mode: "start", req: { start } };
          });
          const response = await test.post("/call/upsert_batch", { batch });
          expect(response.status).toBe(200);
          const { res } = response.json() as { res: readonly { trace_id?: string }[] };
          messages.forEach(({ of, kind }, at) => {
            if (kind === "start") expect(res[at]!.trace_id).toBe(traceOf(of));
          });
          const rows = await test.engine.rows<object>(
            sql`SELECT id, trace_id, hour, op_name, output FROM calls FINAL
                WHERE project_id = ${param("String", project_id)} ORDER BY id`,
            { name: "test" },
          );
          const last = (of: number, kind: Message["kind"]): Message | undefined =>
            messages.findLast((message) => message.of === of && message.kind === kind);
          const expected = calls.map((_, of) => ({
            id: idOf(of),
            trace_id: traceOf(of),
            hour:
              instant(messages.find((message) => message.of === of && message.kind === "start")!.month) /
              HOUR_MS,
            op_name: last(of, "start")!.says,
            output: last(of, "end") === undefined ? null : JSON.stringify(last(of, "end")!.says),
          }));
          expect(rows).toEqual(expected.toSorted((one, other) => (one.id < other.id ? -1 : 1)));
        },
      ),
      { seed: chosenSeed(), numRuns: runs(12, 60) },
    );
  });
});
