import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Clock } from "../../src/shared/clock.ts";
import { sql } from "../../src/query/sql.ts";
import { KEYS_MS } from "../../src/http/auth/key-ring.ts";
import { authorization, startAppOn } from "../helpers/start-app.ts";
import { bearer, startGateway, type TestGateway } from "../helpers/start-gateway.ts";
import { storedStateOf, traceMessages } from "../helpers/trace-messages.ts";
import { until } from "../helpers/until.ts";

const TEN_YEARS_MS = 10 * 365 * 86_400_000;
const TODAY = Date.parse("2026-11-20T12:00:00Z");

/** How far the clock is off at each reading; the last one stays. */
let jumps: number[] = [0];
const clock: Clock = { now: () => TODAY + nextJump() };
let test: TestGateway;
beforeAll(async () => {
  test = await startGateway({ deps: { clock } });
});
afterAll(() => test.close());

function nextJump(): number {
  return jumps.length > 1 ? jumps.shift()! : jumps[0]!;
}

/** Forth and back by up to ten years at every reading, further back than forth. */
function wildJumps(): number[] {
  return Array.from(
    { length: 1000 },
    (_, n) => ((n * 7919) % 17) * (TEN_YEARS_MS / 16) * (n % 2 === 0 ? -1 : 0.5),
  );
}

describe("a clock that jumps at every reading", () => {
  it("does not affect calls, for any order of messages", async () => {
    const sendAll = async (project: string) => {
      for (const [url, body] of traceMessages().toReversed()) {
        expect((await test.post(url.replace("{project}", project), body(project))).status).toBe(200);
      }
      return storedStateOf(test, project);
    };
    jumps = [0];
    const expected = await sendAll("acme/steady");
    jumps = wildJumps();
    expect(await sendAll("acme/jumping")).toEqual(expected);
  });

  it("keeps the last write of a feedback, and counts it once", async () => {
    jumps = wildJumps();
    const feedback = (score: number) => ({
      project_id: "acme/jumping-feedback",
      id: "018f0000-0000-7000-8000-000000000001",
      weave_ref: "weave:///acme/jumping-feedback/call/1",
      feedback_type: "custom",
      payload: { score },
    });
    for (const score of [1, 2, 3, 4, 5]) {
      expect((await test.post("/feedback/create", feedback(score))).status).toBe(200);
    }
    const rows = await test.engine.rows(
      sql`SELECT payload FROM feedback FINAL WHERE project_id = 'acme/jumping-feedback' AND deleted = 0`,
      { name: "test" },
    );
    expect(rows).toEqual([{ payload: '{"score":5}' }]);
  });

  it("does not let a completion end before it began", async () => {
    jumps = Array.from({ length: 1000 }, (_, n) => -n * 3_600_000);
    const chat = await fetch(`${test.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { ...bearer, "content-type": "application/json", "openai-project": "acme/jumping-chat" },
      body: JSON.stringify({ model: "forest-1", messages: [{ role: "user", content: "hi" }] }),
    });
    expect(chat.status).toBe(200);
    await chat.arrayBuffer();
    const recorded = () =>
      test.engine.rows<{ ms: number }>(
        sql`SELECT dateDiff('ms', assumeNotNull(started_at), assumeNotNull(ended_at)) AS ms FROM calls FINAL
            WHERE project_id = 'acme/jumping-chat'`,
        { name: "test" },
      );
    await until(async () => (await recorded()).length === 1);
    const [call] = await recorded();
    expect(call!.ms).toBeGreaterThanOrEqual(0);
    // each jump is an hour
    expect(call!.ms).toBeLessThan(3_600_000);
  });
});

describe("a clock that is set back by ten years", () => {
  it("does not change the validity of a key, except by its expiry", async () => {
    jumps = [0];
    const expires_at = new Date(TODAY + 3_600_000).toISOString();
    const made = await test.post("/api-keys", { name: "k", scopes: ["read"], projects: ["*"], expires_at });
    const { key } = made.json() as { key: string };
    const status = async () => (await test.post("/trace/usage", { project_id: "acme/a" }, { key })).status;
    expect(await status()).toBe(200);
    jumps = [-TEN_YEARS_MS];
    expect(await status()).toBe(200);
    jumps = [TEN_YEARS_MS];
    expect(await status()).toBe(401);
    jumps = [0];
    expect(await status()).toBe(200);
  });

  it("does not prolong the use of a key revoked on another replica", async () => {
    jumps = [0];
    let steadyMs = 0;
    const replica = await startAppOn(test.engine, { deps: { clock, steady: { now: () => steadyMs } } });
    const body = { name: "k", scopes: ["read"], projects: ["*"] };
    const { id, key } = (await test.post("/api-keys", body)).json() as { id: string; key: string };
    const status = async () => (await replica.post("/trace/usage", { project_id: "acme/a" }, { key })).status;
    expect(await status()).toBe(200);
    const headers = { authorization: authorization() };
    expect((await test.app.inject({ method: "DELETE", url: `/api-keys/${id}`, headers })).statusCode).toBe(
      204,
    );
    jumps = [-TEN_YEARS_MS];
    steadyMs = KEYS_MS - 1;
    expect(await status()).toBe(200);
    steadyMs = KEYS_MS;
    expect(await status()).toBe(401);
    await replica.close();
  });
});
