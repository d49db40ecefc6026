import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Scope } from "../../src/http/auth/api-key.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { addKey } from "../helpers/add-key.ts";
import { authorization, ROOT_KEY, startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
let nowMs = Date.parse("2026-06-01T00:00:00Z");
const logged: string[] = [];
/** Name of the inserts that fail. */
let failing: string | undefined;

const ACTORS = {
  root: [["admin"], ["*"]],
  entity: [["admin"], ["acme/*"]],
  project: [["admin"], ["acme/a"]],
  both: [["admin"], ["acme/a", "other/c"]],
  reader: [["read", "ingest"], ["acme/a"]],
  pricer: [["prices"], ["acme/a"]],
  deleter: [["calls:delete"], ["acme/*"]],
} as const satisfies Record<string, readonly [readonly Scope[], readonly string[]]>;
type Actor = keyof typeof ACTORS;
const keys: Record<string, string> = { root: ROOT_KEY };

beforeAll(async () => {
  const logger = pino({ level: "info" }, { write: (line: string) => logged.push(line) });
  test = await startApp({
    deps: { clock: { now: () => nowMs }, logger },
    wrapEngine: (engine) => ({
      ...engine,
      insert: (table, rows, options) =>
        options.name === failing
          ? Promise.reject(new StorageError("unavailable", options.name, undefined, "as the test wants"))
          : engine.insert(table, rows, options),
    }),
  });
  for (const [name, [scopes, projects]] of Object.entries(ACTORS))
    keys[name] ??= await addKey(test, scopes, projects);
});
afterAll(() => test.close());

type Request = readonly [method: "GET" | "POST" | "PUT" | "DELETE", url: string, body?: object];
const ask = ([method, url, body]: Request, actor: Actor = "root") =>
  test.app.inject({
    method,
    url,
    headers: { authorization: authorization(keys[actor]) },
    ...(body === undefined ? {} : { payload: body }),
  });

interface Entry {
  readonly id: string;
  readonly at: string;
  readonly action: string;
  readonly projects: readonly string[];
  readonly key_id: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly outcome: string;
  readonly status: number;
}

/** Advances the clock; returns a reader of all pages of entries since then, the oldest first. */
function since() {
  nowMs += 60_000;
  const start = new Date(nowMs).toISOString();
  return async (query: Readonly<Record<string, string>> = {}, actor?: Actor): Promise<Entry[]> => {
    const entries: Entry[] = [];
    for (let token: string | null = ""; token !== null;) {
      const page_token = token === "" ? {} : { page_token: token };
      const parameters = new URLSearchParams({ start, ...query, ...page_token });
      const response = await ask(["GET", `/audit?${parameters.toString()}`], actor);
      expect(response.statusCode).toBe(200);
      const page: { entries: Entry[]; next_page_token: string | null } = response.json();
      entries.push(...page.entries);
      token = page.next_page_token;
    }
    return entries.reverse();
  };
}

const nothing = { $expr: { $eq: [{ $getField: "id" }, { $literal: "none" }] } };
const price = { m: { prompt_token_cost: 1, completion_token_cost: 1 } };
const of = (project_id: string, more: object) => ({ project_id, ...more });

/** A request of each action for a project, an invalid one, who may send it, and the status of its success. */
const actions: Readonly<
  Record<string, { good: (id: string) => Request; bad?: Request; by: Actor; status?: number }>
> = {
  "key.create": {
    good: (id) => ["POST", "/api-keys", { name: "k", scopes: ["read"], projects: [id] }],
    bad: ["POST", "/api-keys", {}],
    by: "entity",
    status: 201,
  },
  "prices.set": {
    good: (id) => ["POST", "/cost/create", of(id, { costs: price })],
    bad: ["POST", "/cost/create", {}],
    by: "pricer",
  },
  "prices.purge": { good: (id) => ["POST", "/cost/purge", of(id, { query: nothing })], by: "pricer" },
  "calls.delete": {
    good: (id) => ["POST", "/calls/delete", of(id, { call_ids: ["c"] })],
    bad: ["POST", "/calls/delete", {}],
    by: "deleter",
  },
  "feedback.purge": {
    good: (id) => ["POST", "/feedback/purge", of(id, { query: nothing })],
    by: "deleter",
  },
  "project.delete": { good: (id) => ["DELETE", `/projects/${id}`], by: "both", status: 202 },
  "retention.set": {
    good: (id) => ["PUT", `/projects/${id}/retention`, { days: 9 }],
    bad: ["PUT", "/projects/acme/a/retention", {}],
    by: "project",
  },
};

type Compared = Pick<Entry, "action" | "projects" | "outcome" | "status">;
const comparable = ({ action, projects, outcome, status }: Compared) => [action, projects, outcome, status];
/** Whether a reader may see an entry about these projects. Written out, so that it shares nothing with the service. */
const VISIBLE: Readonly<Record<string, (projects: readonly string[]) => boolean>> = {
  root: () => true,
  entity: (projects) => projects.every((one) => one.startsWith("acme/")),
  project: (projects) => projects.every((one) => one === "acme/a"),
  both: (projects) => projects.every((one) => one === "acme/a" || one === "other/c"),
};

it("has an entry for every action and refusal, in order, and shows each key those of its projects", async () => {
  const entries = since();
  logged.length = 0;
  const expected: Compared[] = [];
  const expectEntry = (action: string, status: number, projects: readonly string[]): void =>
    void expected.push({ action, projects, outcome: status < 400 ? "done" : "refused", status });
  for (const [action, { good, bad, by, status = 200 }] of Object.entries(actions)) {
    const sent: (readonly [request: Request, actor: Actor, status: number, projects?: string[]])[] = [
      [good("acme/a"), "root", status, ["acme/a"]],
      [good("other/c"), "root", status, ["other/c"]],
      [good("acme/a"), by, status, ["acme/a"]],
      [good("acme/a"), "reader", 403],
      [good("nobody/x"), by, 403],
      ...(bad === undefined ? [] : ([[bad, by, 422]] as const)),
    ];
    for (const [request, actor, code, projects = ACTORS[actor][1]] of sent) {
      expect([action, (await ask(request, actor)).statusCode]).toEqual([action, code]);
      expectEntry(action, code, projects);
    }
  }
  const { id } = (await ask(actions["key.create"]!.good("acme/b"))).json<{ id: string }>();
  expectEntry("key.create", 201, ["acme/b"]);
  expect((await ask(["DELETE", `/api-keys/${id}`], "project")).statusCode).toBe(404);
  expectEntry("key.revoke", 404, ["acme/a"]);
  expect((await ask(["DELETE", `/api-keys/${id}`], "entity")).statusCode).toBe(204);
  expectEntry("key.revoke", 204, ["acme/b"]);

  for (const [reader, isVisible] of Object.entries(VISIBLE)) {
    const seen = await entries({ limit: "7" }, reader as Actor);
    expect(seen.map(comparable)).toEqual(
      expected.filter(({ projects }) => isVisible(projects)).map(comparable),
    );
    const times = seen.map(({ at }) => at.replace("Z", "").padEnd(26, "0"));
    expect(times).toEqual([...new Set(times)].toSorted());
  }
  const ofAction = (await entries({ action: "calls.delete", outcome: "done" })).map(({ action }) => action);
  expect(ofAction).toEqual(Array(3).fill("calls.delete"));
  const lines = logged.filter((line) => line.includes('"msg":"audit"'));
  expect(lines.map((line) => comparable(JSON.parse(line).audit))).toEqual(expected.map(comparable));
});

it("has target and result of an action, never a secret, and outlives its project", async () => {
  const entries = since();
  const created = (await ask(actions["key.create"]!.good("acme/a"))).json<{ id: string; key: string }>();
  const { ids } = (await ask(actions["prices.set"]!.good("acme/a"))).json<{ ids: string[][] }>();
  const { deletion_id } = (await ask(actions["calls.delete"]!.good("acme/a"))).json<{
    deletion_id: string;
  }>();
  await ask(["POST", "/cost/purge", { project_id: "acme/a" }]);
  const { id } = (await ask(actions["project.delete"]!.good("acme/a"))).json<{ id: string }>();
  const found = await entries({ project_id: "acme/a" });
  expect((await entries()).map(({ details }) => details)).toEqual([
    { name: "k", scopes: ["read"], expires_at: null, id: created.id },
    { llm_ids: ["m"], ids: [ids[0]![0]], count: 1 },
    { call_ids: ["c"], count: 1, num_deleted: 0, deletion_id },
    { project_id: "acme/a" },
    { deletion_id: id },
  ]);
  expect(found).toHaveLength(4);
  expect(JSON.stringify(found)).not.toContain(created.key.slice(16));
});

it("records a failed action, and logs an action that it cannot record", async () => {
  const entries = since();
  failing = "retention_save";
  const setRetention = actions["retention.set"]!.good("acme/b");
  expect((await ask(setRetention)).statusCode).toBe(503);
  failing = "audit_write";
  expect((await ask(setRetention)).statusCode).toBe(200);
  failing = undefined;
  expect((await ask(["GET", "/projects/acme/b/retention"])).json()).toEqual({ days: 9 });
  expect((await entries()).map(({ outcome, status }) => [outcome, status])).toEqual([["failed", 503]]);
  expect(logged.join("")).toContain("audited actions could not be stored");
});

it("lists sixty rejections of a key per minute, reports that there are more, and lists those of others", async () => {
  const entries = since();
  const refused: Request = ["POST", "/api-keys", {}];
  for (let count = 0; count < 70; count++) await ask(refused, "reader");
  await ask(refused, "pricer");
  const found = await entries();
  expect(new Set(found.slice(0, 60).map(({ key_id }) => key_id)).size).toBe(1);
  const further = { not_listed: "further refusals of this key in this minute" };
  expect(found.slice(59).map(({ details }) => details)).toEqual([further, {}]);
  nowMs += 60_000;
  await ask(refused, "reader");
  expect(await entries()).toHaveLength(62);
});

it.each(["page_token=x", "limit=0", "limit=2000", "action=other", "start=never", "more=1"])(
  "rejects %s",
  async (query) => {
    expect((await ask(["GET", `/audit?${query}`])).statusCode).toBe(422);
  },
);
