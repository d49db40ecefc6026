import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pino } from "pino";
import { generateKey } from "../../src/http/auth/api-key.ts";
import { startApp, authorization, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
let nowMs = Date.parse("2026-06-01T00:00:00Z");
const logged: string[] = [];
beforeAll(async () => {
  const logger = pino({ level: "trace" }, { write: (line: string) => logged.push(line) });
  test = await startApp({
    settings: { FAILED_AUTH_PER_MINUTE: "3" },
    deps: { clock: { now: () => nowMs }, logger },
  });
});
afterAll(() => test.close());

interface Created {
  readonly id: string;
  readonly key: string;
}

async function create(more: object = {}, as?: string): Promise<Created> {
  const answer = await test.post(
    "/api-keys",
    { name: "ci", scopes: ["read"], projects: ["acme/*"], ...more },
    as === undefined ? {} : { key: as },
  );
  expect(answer.status).toBe(201);
  return answer.json() as Created;
}

function ask(method: "GET" | "DELETE", url: string, key?: string) {
  return test.app.inject({ method, url, headers: { authorization: authorization(key) } });
}

async function usageStatus(key: string, project_id = "acme/a", remoteAddress = "10.0.0.1"): Promise<number> {
  const response = await test.app.inject({
    method: "POST",
    url: "/trace/usage",
    remoteAddress,
    headers: { authorization: authorization(key) },
    payload: { project_id },
  });
  return response.statusCode;
}

/** How often keys were read from the store. */
async function lookUps(): Promise<number> {
  const { payload } = await ask("GET", "/metrics");
  const counts = payload.matchAll(
    /^sumtree_store_statement_duration_seconds_count\{statement="api_key_[^}]*\} (\d+)$/gm,
  );
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

describe("POST /api-keys", () => {
  it("creates a key that is valid at once, only for its projects and scopes", async () => {
    const answer = await test.post("/api-keys", { name: "ci", scopes: ["read"], projects: ["acme/a"] });
    expect(answer.status).toBe(201);
    expect(answer.headers["cache-control"]).toBe("no-store");
    const made = answer.json() as Created;
    expect(made).toEqual({
      id: expect.stringMatching(/^[0-9a-z]{12}$/),
      key: expect.stringMatching(new RegExp(`^st_${made.id}_[\\w-]{43}$`)),
      name: "ci",
      scopes: ["read"],
      projects: ["acme/a"],
      created_at: "2026-06-01T00:00:00.000Z",
      expires_at: null,
      created_by: "root",
    });
    expect([await usageStatus(made.key), await usageStatus(made.key, "acme/b")]).toEqual([200, 403]);
    expect((await test.post("/api-keys", {}, { key: made.key })).status).toBe(403);
  });

  it("reports every issue of an invalid request", async () => {
    const answer = await test.post("/api-keys", {
      name: "",
      scopes: ["root"],
      projects: ["acme"],
      expires_at: "soon",
      more: 1,
    });
    expect(answer.status).toBe(422);
    expect(
      answer.json().detail.map((issue: { loc: string[]; type: string }) => [issue.loc.join("."), issue.type]),
    ).toEqual(
      expect.arrayContaining([
        ["body.name", "too_short"],
        ["body.scopes.0", "literal_error"],
        ["body.projects.0", "string_pattern_mismatch"],
        ["body.expires_at", "datetime_parsing"],
        ["body.more", "extra_forbidden"],
      ]),
    );
  });

  it("a key is invalid once it expires; an expired one is not created", async () => {
    const { key } = await create({ expires_at: "2026-06-01T01:00:00Z" });
    expect(await usageStatus(key)).toBe(200);
    nowMs = Date.parse("2026-06-01T01:00:00Z");
    expect(await usageStatus(key)).toBe(401);
    const late = await test.post("/api-keys", {
      name: "x",
      scopes: ["read"],
      projects: ["*"],
      expires_at: "2026-06-01T01:00:00Z",
    });
    expect([late.status, late.json().detail[0].loc]).toEqual([422, ["body", "expires_at"]]);
  });

  it("an admin of some projects cannot grant others, nor list or revoke their keys", async () => {
    const { key: admin } = await create({ name: "acme admin", scopes: ["admin"] });
    const within = await create({ projects: ["acme/a", "acme/*"] }, admin);
    for (const pattern of ["*", "other/a", "acme", "acm/*"]) {
      const answer = await test.post(
        "/api-keys",
        { name: "x", scopes: ["read"], projects: [pattern] },
        { key: admin },
      );
      expect([403, 422]).toContain(answer.status);
    }
    const foreign = await create({ projects: ["acme/a", "other/b"] });
    const seen = (await ask("GET", "/api-keys", admin)).json<{ api_keys: Created[] }>().api_keys;
    expect(seen.map((one) => one.id)).toContain(within.id);
    expect(seen.map((one) => one.id)).not.toContain(foreign.id);
    expect((await ask("DELETE", `/api-keys/${foreign.id}`, admin)).statusCode).toBe(404);
    expect((await ask("DELETE", `/api-keys/${within.id}`, admin)).statusCode).toBe(204);
  });
});

describe("DELETE /api-keys/{id}", () => {
  it("revokes a key at once; returns 404 for an unknown key", async () => {
    const { id, key } = await create();
    expect(await usageStatus(key)).toBe(200);
    expect((await ask("DELETE", `/api-keys/${id}`)).statusCode).toBe(204);
    expect(await usageStatus(key)).toBe(401);
    expect((await ask("DELETE", `/api-keys/${id}`)).statusCode).toBe(404);
    expect((await ask("DELETE", "/api-keys/root")).statusCode).toBe(404);
  });
});

describe("GET /api-keys", () => {
  it("lists names, scopes and last use of keys, never a secret", async () => {
    const used = await create({ name: "used" });
    const unused = await create({ name: "unused" });
    nowMs += 60_000;
    await usageStatus(used.key);
    const response = await ask("GET", "/api-keys");
    const keys = response.json<{ api_keys: { id: string; last_used_at: string | null }[] }>().api_keys;
    const lastUse = (id: string) => keys.find((one) => one.id === id)?.last_used_at;
    expect([lastUse(used.id), lastUse(unused.id)]).toEqual([new Date(nowMs).toISOString(), null]);
    expect(response.payload).not.toMatch(/secret|hash|"st_/);
  });
});

describe("wrong credentials", () => {
  it("are limited by address; known keys of that address stay valid", async () => {
    const { key } = await create();
    const from = "10.9.9.9";
    expect(await usageStatus(key, "acme/a", from)).toBe(200);
    const wrong = `st_000000000000_${"x".repeat(43)}`;
    const answers: number[] = [];
    for (let attempt = 0; attempt < 5; attempt++) answers.push(await usageStatus(wrong, "acme/a", from));
    expect(answers).toEqual([401, 401, 401, 429, 429]);
    expect(await usageStatus(key, "acme/a", from)).toBe(200);
    expect(await usageStatus(wrong, "acme/a", "10.9.9.8")).toBe(401);
    const refused = await test.app.inject({
      method: "POST",
      url: "/trace/usage",
      remoteAddress: from,
      headers: { authorization: authorization(wrong) },
      payload: {},
    });
    expect(Number(refused.headers["retry-after"])).toBeGreaterThanOrEqual(1);
    expect(Number(refused.headers["retry-after"])).toBeLessThanOrEqual(59);
  });

  it("block no valid key of that address, known there or not, and cost no look-up each", async () => {
    const from = "10.9.9.6";
    const fresh = [await create(), await create()];
    const wrong = (): string => generateKey().text;
    for (let attempt = 0; attempt < 20; attempt++) await usageStatus(wrong(), "acme/a", from);
    const stolen = `st_${fresh[0]!.id}_${"x".repeat(43)}`;
    expect(await usageStatus(stolen, "acme/a", from)).toBe(429);
    const answers = await Promise.all(fresh.map(({ key }) => usageStatus(key, "acme/a", from)));
    expect(answers).toEqual([200, 200]);

    const before = await lookUps();
    for (let attempt = 0; attempt < 50; attempt++) await usageStatus(wrong(), "acme/a", from);
    expect((await lookUps()) - before).toBeLessThan(10);
  });

  it("requests without credentials are not counted", async () => {
    for (let attempt = 0; attempt < 6; attempt++) {
      const response = await test.app.inject({
        method: "POST",
        url: "/trace/usage",
        remoteAddress: "10.9.9.7",
      });
      expect(response.statusCode).toBe(401);
    }
  });
});

it("the log contains no key", () => {
  expect(logged.join("\n")).not.toMatch(/st_[0-9a-z]{12}_/);
});
