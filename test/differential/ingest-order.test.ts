import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../src/query/sql.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

const ORDERS = Number(process.env["DIFFERENTIAL_ORDERS"] ?? 1000);
const AT_ONCE = 50;

let test: TestApp;
beforeAll(async () => {
  test = await startApp({ settings: { INGEST_LINGER_MS: "5" } });
});
afterAll(() => test.close());

type Message = readonly [url: string, body: (project: string) => unknown];

/** A trace of six calls in every shape that clients send: pairs, whole calls, renames, a deleted leaf, an open call. */
function trace(): Message[] {
  const start = (id: string, parent: string | null, more: object = {}): Message => [
    "/call/start",
    (project_id) => ({
      start: {
        project_id,
        id,
        trace_id: "t",
        parent_id: parent,
        op_name: `op-${id}`,
        started_at: `2026-01-01T00:00:0${id.length}Z`,
        inputs: { id },
        attributes: {},
        display_name: "first",
        ...more,
      },
    }),
  ];
  const end = (id: string, tokens: number, more: object = {}): Message => [
    "/call/end",
    (project_id) => ({
      end: {
        project_id,
        id,
        ended_at: "2026-01-01T00:01:00Z",
        output: { id },
        summary: { usage: { m: { requests: 1, prompt_tokens: tokens } } },
        ...more,
      },
    }),
  ];
  const whole: Message = [
    "/v2/{project}/calls/complete",
    () => ({
      batch: [
        {
          id: "whole",
          trace_id: "t",
          parent_id: "a",
          op_name: "w",
          started_at: "2026-01-01T00:00:00Z",
          ended_at: "2026-01-01T00:00:09Z",
          inputs: {},
          attributes: {},
          output: "weave:///e/p/object/x:1",
          summary: { usage: { m: { requests: 1, prompt_tokens: 1000 } } },
        },
      ],
    }),
  ];
  return [
    start("a", null),
    end("a", 1),
    start("bb", "a", { thread_id: "th", wb_run_step: 4 }),
    end("bb", 10, { exception: "boom" }),
    start("ccc", "bb"),
    end("ccc", 100),
    start("open", "ccc"),
    start("gone", "a"),
    end("gone", 5000),
    whole,
    ["/call/update", (project_id) => ({ project_id, call_id: "bb", display_name: "renamed" })],
    ["/calls/delete", (project_id) => ({ project_id, call_ids: ["gone"] })],
  ];
}

async function send(project: string, [url, body]: Message): Promise<void> {
  const answer = await test.post(url.replace("{project}", project), body(project));
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
}

async function outcome(project: string) {
  const calls = await test.engine.rows<Record<string, unknown>>(
    sql`SELECT * EXCEPT (project_id, deleted_at), deleted_at IS NOT NULL AS deleted FROM calls FINAL
        WHERE project_id = ${{ kind: "param", type: "String", value: project }} ORDER BY id`,
    { name: "test" },
  );
  const usage = await test.post("/trace/usage", { project_id: project });
  const { call_usage, unfinished_call_ids } = usage.json();
  return { calls, call_usage, unfinished_call_ids };
}

describe("ingest", () => {
  it(`has one outcome for ${ORDERS} random orders with duplicates`, { timeout: 300_000 }, async () => {
    for (const message of trace()) await send("acme/reference", message);
    const expected = await outcome("acme/reference");
    expect(expected.calls).toHaveLength(6);
    expect(expected.call_usage["a"]["m"]).toMatchObject({ requests: 4, prompt_tokens: 1111 });
    expect(expected.unfinished_call_ids).toEqual(["open"]);

    const seed = Date.now() & 0xffff;
    const messages = trace();
    const orders = fc.sample(
      fc.shuffledSubarray([...messages, ...messages], { minLength: messages.length * 2 }).map((order) => {
        const firstOf = new Set(order);
        return [
          ...order.slice(0, messages.length + 4),
          ...messages.filter((message) => !firstOf.has(message)),
          ...messages.filter((message) => !order.slice(0, messages.length + 4).includes(message)),
        ];
      }),
      { numRuns: ORDERS, seed },
    );
    for (let from = 0; from < orders.length; from += AT_ONCE) {
      await Promise.all(
        orders.slice(from, from + AT_ONCE).map(async (order, offset) => {
          const project = `acme/order-${from + offset}`;
          // some messages of one client overlap, the others follow each other
          for (let at = 0; at < order.length; at += 3)
            await Promise.all(order.slice(at, at + 3).map((one) => send(project, one)));
          expect(await outcome(project), `seed ${seed}, order ${from + offset}`).toEqual(expected);
        }),
      );
    }
  });
});
