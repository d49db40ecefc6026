import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pino } from "pino";
import { generateKey } from "../../src/http/auth/api-key.ts";
import { KEYS_MS } from "../../src/http/auth/key-ring.ts";
import { startApp, startAppOn, authorization, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
/** Another process on the same store. */
let other: TestApp;
let nowMs = Date.parse("2026-06-01T00:00:00Z");
let steadyMs = 0;
const logged: string[] = [];
beforeAll(async () => {
  const logger = pino({ level: "trace" }, { write: (line: string) => logged.push(line) });
  const deps = { clock: { now: () => nowMs }, steady: { now: () => steadyMs }, logger };
  test = await startApp({ deps });
  other = await startAppOn(test.engine, { deps });
});
afterAll(async () => {
  await other.close();
  await test.close();
});

interface Created {
  readonly id: string;
  readonly key: string;
  readonly expires_at: string | null;
  readonly created_by: string;
}

const request = (more: object = {}, as?: string) =>
  test.post(
    "/api-keys",
    { name: "ci", scopes: ["read"], projects: ["acme/*"], ...more },
    as === undefined ? {} : { key: as },
  );

async function create(more: object = {}, as?: string): Promise<Created> {
  const answer = await request(more, as);
  expect(answer.status).toBe(201);
  return answer.json() as Created;
}

function ask(method: "GET" | "DELETE", url: string, key?: string) {
  return test.app.inject({ method, url, headers: { authorization: authorization(key) } });
}

async function usageStatus(key: string, project_id = "acme/a", app = test): Promise<number> {
  return (await app.post("/trace/usage", { project_id }, { key })).status;
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

describe("a key that a key made", () => {
  const admin = { scopes: ["admin"] };

  it("is valid as long as all above it are: at once in this process, within ten seconds in others", async () => {
    const root = await create(admin);
    const middle = await create(admin, root.key);
    const leaf = await create({}, middle.key);
    const beside = await create({}, root.key);
    expect([middle.created_by, leaf.created_by]).toEqual([root.id, middle.id]);
    const all = [root, middle, leaf, beside];
    const statuses = (app: TestApp) => Promise.all(all.map(({ key }) => usageStatus(key, "acme/a", app)));
    steadyMs += KEYS_MS;
    expect([await statuses(test), await statuses(other)]).toEqual([Array(4).fill(200), Array(4).fill(200)]);
    expect((await ask("DELETE", `/api-keys/${middle.id}`, root.key)).statusCode).toBe(204);
    expect(await statuses(test)).toEqual([200, 401, 401, 200]);
    const seen = (await ask("GET", "/api-keys")).json<{ api_keys: Created[] }>().api_keys;
    const listed = seen.map(({ id }) => id);
    expect(all.map(({ id }) => listed.includes(id))).toEqual([true, false, false, true]);
    steadyMs += KEYS_MS;
    expect(await statuses(other)).toEqual([200, 401, 401, 200]);
  });

  it("expires with it at the latest, and cannot outlive it", async () => {
    const at = (hours: number) => new Date(nowMs + hours * 3_600_000).toISOString();
    const parent = await create({ ...admin, expires_at: at(2) });
    expect((await create({}, parent.key)).expires_at).toBe(at(2));
    expect((await create({ expires_at: at(1) }, parent.key)).expires_at).toBe(at(1));
    expect((await request({ expires_at: at(3) }, parent.key)).status).toBe(422);
  });

  it("can be made eight levels deep", async () => {
    let key = (await create(admin)).key;
    for (let level = 1; level <= 8; level++) key = (await create(admin, key)).key;
    expect((await request({}, key)).status).toBe(403);
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

it("wrong credentials are refused, however many, and cost no look-up each", async () => {
  const { id, key } = await create();
  const before = await lookUps();
  const wrong = [`st_${id}_${"x".repeat(43)}`, "", ...Array.from({ length: 50 }, () => generateKey().text)];
  for (const status of await Promise.all(wrong.map((text) => usageStatus(text)))) expect(status).toBe(401);
  expect((await lookUps()) - before).toBeLessThan(10);
  expect(await usageStatus(key)).toBe(200);
});

it("the log contains no key", () => {
  expect(logged.join("\n")).not.toMatch(/st_[0-9a-z]{12}_/);
});
