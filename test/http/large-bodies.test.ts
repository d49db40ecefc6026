import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fullRequests } from "../helpers/full-requests.ts";
import { runs } from "../helpers/runs.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";

/** Space around a text changes nothing but its length: with this much, the second thread reads it. */
const PADDING = " ".repeat(4_200_000);

/** What the service makes where the client gives no id. */
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

it("gets the answer that a small one gets", { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(body, async ({ route, text }) => {
      const small = await answerTo(route, text);
      expect(await answerTo(route, text + PADDING)).toEqual(small);
    }),
    { numRuns: runs(20, 400) },
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
  const answer = await test.post("/call/read", { project_id: "acme/large", id: "stored" });
  expect([status, answer.text.includes("12345678901234567,")]).toEqual([200, true]);
  expect((answer.json() as { call: { output: typeof output } }).call.output['"\\']).toBe(PADDING);
});
