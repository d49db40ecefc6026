import fc from "fast-check";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Scope } from "../../src/http/auth/api-key.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { authorization, ROOT_KEY, startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
let nowMs = Date.parse("2026-06-01T00:00:00Z");
const logged: string[] = [];
/** Inserts that fail, by their name, in turn. */
const failing: { name: string; passes: number }[] = [];

interface Actor {
  readonly id: string;
  readonly text: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly projects: readonly string[];
}
const actors: Actor[] = [];

beforeAll(async () => {
  const logger = pino({ level: "info" }, { write: (line: string) => logged.push(line) });
  test = await startApp({
    deps: { clock: { now: () => nowMs }, logger },
    wrapEngine: (engine) => ({
      ...engine,
      insert(table, rows, options) {
        const at = failing.findIndex(({ name }) => name === options.name);
        if (at !== -1 && failing[at]!.passes-- === 0) {
          failing.splice(at, 1);
          return Promise.reject(
            new StorageError("unavailable", options.name, undefined, "as the test wants"),
          );
        }
        return engine.insert(table, rows, options);
      },
    }),
  });
  actors.push({ id: "root", text: ROOT_KEY, name: "root", scopes: ["admin"], projects: ["*"] });
  await addActor(["admin"], ["acme/*"]);
  await addActor(["admin"], ["acme/a"]);
  await addActor(["admin"], ["acme/a", "other/c"]);
  await addActor(["read", "ingest"], ["acme/a"]);
  await addActor(["prices"], ["acme/a"]);
  await addActor(["calls:delete"], ["acme/*"]);
});
afterAll(() => test.close());

async function addActor(scopes: readonly Scope[], projects: readonly string[]): Promise<void> {
  const name = scopes.join();
  const { id, key } = (await test.post("/api-keys", { name, scopes, projects })).json();
  actors.push({ id, text: key, name, scopes, projects });
}

function ask(
  method: "GET" | "POST" | "PUT" | "DELETE",
  url: string,
  { key, body }: { key?: string; body?: object } = {},
) {
  return test.app.inject({
    method,
    url,
    headers: { authorization: authorization(key) },
    ...(body === undefined ? {} : { payload: body }),
  });
}

interface Entry {
  readonly id: string;
  readonly at: string;
  readonly action: string;
  readonly projects: readonly string[];
  readonly key_id: string;
  readonly key_name: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly outcome: string;
  readonly status: number;
}

/** All pages, the oldest first. */
async function readAll(query: Readonly<Record<string, string>> = {}, key?: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let token: string | null = ""; token !== null;) {
    const parameters = new URLSearchParams({ ...query, ...(token === "" ? {} : { page_token: token }) });
    const response = await ask("GET", `/audit?${parameters.toString()}`, key === undefined ? {} : { key });
    expect(response.statusCode).toBe(200);
    const page: { entries: Entry[]; next_page_token: string | null } = response.json();
    entries.push(...page.entries);
    token = page.next_page_token;
  }
  return entries.reverse();
}

const project = fc.constantFrom("acme/a", "acme/b", "other/c");
const by = fc.nat({ max: 6 });
const KINDS = {
  "key.create": "admin",
  "key.revoke": "admin",
  "prices.set": "prices",
  "prices.purge": "prices",
  "factors.set": "prices",
  "factors.purge": "prices",
  "calls.delete": "calls:delete",
  "feedback.purge": "calls:delete",
  "project.delete": "admin",
  "retention.set": "admin",
} as const satisfies Record<string, Scope>;
type Kind = keyof typeof KINDS;
const steps = fc.array(
  fc.record({
    kind: fc.constantFrom(...(Object.keys(KINDS) as Kind[])),
    by,
    project,
    bad: fc.nat({ max: 4 }),
  }),
  { minLength: 1, maxLength: 12 },
);

const WITHIN: Readonly<Record<string, readonly string[]>> = {
  "*": ["*", "acme/*", "acme/a", "acme/b", "other/c"],
  "acme/*": ["acme/*", "acme/a", "acme/b"],
  "acme/a": ["acme/a"],
  "other/c": ["other/c"],
};
const covers = (actor: Actor, pattern: string): boolean =>
  actor.projects.some((own) => WITHIN[own]!.includes(pattern));

/** Sends a request, without its main part if it is to be bad. */
async function act(kind: Kind, { id, actor, bad }: { id: string; actor: Actor; bad: boolean }) {
  const [entity, name] = id.split("/");
  const key = actor.text;
  const query = { $expr: { $eq: [{ $getField: "id" }, { $literal: "none" }] } };
  const without = (body: object, part: string) =>
    bad ? Object.fromEntries(Object.entries(body).filter(([field]) => field !== part)) : body;
  const post = (url: string, body: object, part: string) =>
    ask("POST", url, { key, body: without(body, part) });
  switch (kind) {
    case "key.create":
      return post("/api-keys", { name: "k", scopes: ["read"], projects: [id] }, "scopes");
    case "key.revoke": {
      const made = await test.post("/api-keys", { name: "k", scopes: ["read"], projects: [id] });
      return ask("DELETE", `/api-keys/${bad ? "none" : made.json().id}`, { key });
    }
    case "prices.set":
      return post(
        "/cost/create",
        { project_id: id, costs: { m: { prompt_token_cost: 1, completion_token_cost: 1 } } },
        "costs",
      );
    case "prices.purge":
      return post("/cost/purge", { project_id: id, query }, "query");
    case "factors.set":
      return post("/cost/factor/create", { project_id: id, factors: [{ factor: 0.9 }] }, "factors");
    case "factors.purge":
      return post("/cost/factor/purge", { project_id: id, query }, "query");
    case "calls.delete":
      return post("/calls/delete", { project_id: id, call_ids: ["c"] }, "call_ids");
    case "feedback.purge":
      return post("/feedback/purge", { project_id: id, query }, "query");
    case "project.delete":
      return ask("DELETE", `/projects/${entity}/${name}`, { key });
    case "retention.set":
    default:
      return ask("PUT", `/projects/${entity}/${name}/retention`, { key, body: bad ? {} : { days: 9 } });
  }
}

/** Returns the expected entry of a request. */
function expectedOf(kind: Kind, { id, actor, bad }: { id: string; actor: Actor; bad: boolean }) {
  const has = actor.scopes.includes(KINDS[kind]) || actor.scopes.includes("admin");
  const rejected = (status: number) => ({ status, outcome: "refused", projects: actor.projects });
  if (!has) return rejected(403);
  if (kind === "key.revoke") {
    if (bad || !covers(actor, id)) return rejected(404);
  } else {
    if (bad) return rejected(422);
    if (!covers(actor, id)) return rejected(403);
  }
  const status = { "key.create": 201, "key.revoke": 204, "project.delete": 202 }[kind as string] ?? 200;
  return { status, outcome: "done", projects: [id] };
}

describe("GET /audit", () => {
  it("lists all actions with actor, in order, and to each key those of its projects", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        nowMs += 60_000;
        const start = new Date(nowMs).toISOString();
        const expected: object[] = [];
        logged.length = 0;
        for (const step of sequence) {
          const actor = actors[step.by]!;
          const asked = { id: step.project, actor, bad: step.bad === 0 && step.kind !== "project.delete" };
          if (step.kind === "key.revoke") expected.push(made(step.project));
          const response = await act(step.kind, asked);
          const entry = expectedOf(step.kind, asked);
          expect([step, response.statusCode]).toEqual([step, entry.status]);
          expected.push({ action: step.kind, key_id: actor.id, key_name: actor.name, ...entry });
          nowMs += step.bad;
        }
        for (const reader of actors.filter(({ scopes }) => scopes.includes("admin"))) {
          const seen = await readAll({ start, limit: "3" }, reader.text);
          const visible = expected.filter((entry) =>
            (entry as Entry).projects.every((pattern) => covers(reader, pattern)),
          );
          expect(seen.map(comparable)).toEqual(visible);
          const times = seen.map(({ at }) => at.replace("Z", "").padEnd(26, "0"));
          expect(times).toEqual(times.toSorted());
          expect(new Set(times).size).toBe(times.length);
        }
        const kinds = new Set(sequence.map(({ kind }) => kind));
        for (const action of kinds) {
          const ofAction = expected.filter((entry) => (entry as Entry).action === action);
          expect((await readAll({ start, action })).map(comparable)).toEqual(ofAction);
        }
        const lines = logged.filter((line) => line.includes('"msg":"audit"'));
        expect(lines.map((line) => comparable(JSON.parse(line).audit))).toEqual(expected);
      }),
      { numRuns: runs(6, 60), seed: chosenSeed(), endOnFailure: true },
    );
  });

  function made(id: string) {
    const root = { key_id: "root", key_name: "root" };
    return { action: "key.create", ...root, status: 201, outcome: "done", projects: [id] };
  }

  function comparable({ action, key_id, key_name, status, outcome, projects }: Entry) {
    return { action, key_id, key_name, status, outcome, projects };
  }

  it("contains target and outcome of an action, and never a secret", async () => {
    nowMs += 60_000;
    const start = new Date(nowMs).toISOString();
    const created = (
      await test.post("/api-keys", { name: "n", scopes: ["read"], projects: ["acme/a"] })
    ).json();
    const { ids } = (
      await test.post("/cost/create", {
        project_id: "acme/a",
        costs: { m: { prompt_token_cost: 1, completion_token_cost: 1 } },
      })
    ).json();
    const { deletion_id } = (
      await test.post("/calls/delete", { project_id: "acme/a", call_ids: ["c"] })
    ).json();
    await test.post("/cost/purge", { project_id: "acme/a" });
    const entries = await readAll({ start });
    expect(entries.map(({ details }) => details)).toEqual([
      { name: "n", scopes: ["read"], expires_at: null, id: created.id },
      { llm_ids: ["m"], ids: [ids[0][0]], count: 1 },
      { call_ids: ["c"], count: 1, num_deleted: 0, deletion_id },
      { project_id: "acme/a" },
    ]);
    expect(JSON.stringify(entries)).not.toContain(created.key.slice(16));
  });

  it("is kept after the deletion of its project", async () => {
    nowMs += 60_000;
    const start = new Date(nowMs).toISOString();
    await ask("PUT", "/projects/acme/a/retention", { body: { days: 5 } });
    await ask("DELETE", "/projects/acme/a");
    const entries = await readAll({ start, project_id: "acme/a" });
    expect(entries.map(({ action }) => action)).toEqual(["retention.set", "project.delete"]);
  });

  it("rejects actions that it cannot record, and records failed ones", async () => {
    nowMs += 60_000;
    const start = new Date(nowMs).toISOString();
    failing.push({ name: "audit_write", passes: 0 });
    expect((await ask("PUT", "/projects/acme/b/retention", { body: { days: 77 } })).statusCode).toBe(503);
    expect((await ask("GET", "/projects/acme/b/retention")).json().days).not.toBe(77);
    expect(await readAll({ start })).toEqual([]);

    failing.push({ name: "retention_save", passes: 0 });
    expect((await ask("PUT", "/projects/acme/b/retention", { body: { days: 78 } })).statusCode).toBe(503);
    failing.push({ name: "audit_write", passes: 1 });
    expect((await ask("PUT", "/projects/acme/b/retention", { body: { days: 79 } })).statusCode).toBe(200);
    expect((await ask("GET", "/projects/acme/b/retention")).json()).toEqual({ days: 79 });
    expect((await readAll({ start })).map(({ outcome, status }) => [outcome, status])).toEqual([
      ["failed", 503],
      ["unknown", 0],
    ]);
    expect(logged.join("")).toContain("the outcome of an audited action could not be stored");
  });

  it("lists sixty rejections of a key per minute, reports that there are more, and lists those of others", async () => {
    nowMs += 60_000;
    const start = new Date(nowMs).toISOString();
    const [, , , , reader, pricer] = actors;
    for (let count = 0; count < 70; count++) await ask("POST", "/api-keys", { key: reader!.text, body: {} });
    await ask("POST", "/api-keys", { key: pricer!.text, body: {} });
    const entries = await readAll({ start });
    expect(entries.map(({ key_id }) => key_id)).toEqual([...Array(60).fill(reader!.id), pricer!.id]);
    const further = { not_listed: "further refusals of this key in this minute" };
    expect(entries.slice(-3).map(({ details }) => details)).toEqual([{}, further, {}]);
    nowMs += 60_000;
    await ask("POST", "/api-keys", { key: reader!.text, body: {} });
    expect((await readAll({ start })).length).toBe(62);
  });

  it("rejects an invalid page token", async () => {
    for (const query of ["page_token=x", "limit=0", "limit=2000", "action=other", "start=never", "more=1"])
      expect((await ask("GET", `/audit?${query}`)).statusCode).toBe(422);
  });
});
