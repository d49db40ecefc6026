import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { OpenAPIV3_1 } from "openapi-types";
import { afterAll, beforeAll, expect, it } from "vitest";
import { SCOPES, type Scope } from "../../src/http/auth/api-key.ts";
import type { Scheme } from "../../src/http/auth/credentials.ts";
import { addKey } from "../helpers/add-key.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";

/** The table of routes, as the service describes itself; `openapi.test.ts` holds it to what the routes say. */
const document = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../openapi.json"), "utf8"),
) as OpenAPIV3_1.Document;

interface Route {
  readonly route: string;
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly url: string;
  readonly schemes: readonly Scheme[];
  /** `any`: every key may ask; what it gets is the route's to decide. */
  readonly scope: Scope | "any" | undefined;
}

const routes = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
  Object.entries(item ?? {}).map(([method, operation]): Route => {
    const { security = [] } = operation as OpenAPIV3_1.OperationObject;
    const alternatives = security.flatMap((one) => Object.entries(one));
    return {
      route: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase() as Route["method"],
      url: path
        .replace("{entity}", "acme")
        .replace("{project}", "x")
        .replaceAll(/\{\w+\}/g, "0123456789ab"),
      schemes: alternatives.map(([scheme]) => scheme as Scheme),
      scope: alternatives[0]?.[1][0] as Route["scope"],
    };
  }),
);

/** Nothing else may be read without a key. */
const PUBLIC = [
  "GET /healthz",
  "GET /readyz",
  "GET /readyz/reads",
  "GET /readyz/writes",
  "GET /openapi.json",
];

const project_id = "acme/x";
const start = { project_id, id: "a", trace_id: "t", op_name: "o", started_at: "2026-01-01T00:00:00Z" };
const end = { project_id, id: "a", ended_at: "2026-01-01T00:00:01Z" };
const byId = { $expr: { $eq: [{ $getField: "id" }, { $literal: "0123456789ab" }] } };
const feedback = { project_id, weave_ref: "weave:///acme/x/call/a", feedback_type: "f", payload: {} };

/** A request that is good apart from whose project it names. Routes that name none are `null`. */
const samples: Readonly<Record<string, object | null>> = {
  "POST /trace/usage": { project_id },
  "POST /calls/usage": { project_id, call_ids: [] },
  "POST /trace/calls": { project_id, trace_id: "t" },
  "POST /trace/sizes": { project_id, trace_ids: [] },
  "POST /traces/facets": { project_id, start: "2026-01-01T00:00:00Z", fields: ["status"] },
  "POST /traces/query": { project_id, start: "2026-01-01T00:00:00Z" },
  "POST /call/receipt": { project_id, call_id: "c" },
  "POST /call/start": { start },
  "POST /call/end": { end },
  "POST /call/upsert_batch": { batch: [{ mode: "start", req: { start } }] },
  "POST /v2/{entity}/{project}/call/start": { start },
  "POST /v2/{entity}/{project}/call/end": { end },
  "POST /v2/{entity}/{project}/calls/complete": { batch: [start] },
  "POST /call/update": { project_id, call_id: "a", display_name: "n" },
  "POST /call/read": { project_id, id: "a" },
  "POST /calls/delete": { project_id, call_ids: ["a"] },
  "POST /calls/stream_query": { project_id },
  "POST /calls/query_stats": { project_id },
  "POST /fields/query": { project_id },
  "POST /feedback/create": feedback,
  "POST /feedback/batch/create": { batch: [feedback] },
  "POST /feedback/replace": { ...feedback, feedback_id: "f" },
  "POST /feedback/query": { project_id },
  "POST /feedback/purge": { project_id, query: byId },
  "POST /usage/stats": { project_id, start: "2026-01-01T00:00:00Z", end: "2026-01-01T01:00:00Z" },
  "POST /agents/stats": { project_id, start: "2026-01-01T00:00:00Z", end: "2026-01-01T01:00:00Z" },
  "POST /feedback/stats": { project_id, start: "2026-01-01T00:00:00Z", end: "2026-01-01T01:00:00Z" },
  "POST /feedback/payload_schema": { project_id, start: "2026-01-01T00:00:00Z" },
  "POST /cost/create": { project_id, costs: { m: { prompt_token_cost: 1, completion_token_cost: 1 } } },
  "POST /cost/query": { project_id },
  "POST /cost/purge": { project_id, query: byId },
  "POST /budget/create": { project_id, scope: "project", limit: { usd: 1 } },
  "POST /budget/update": { project_id, id: "b" },
  "POST /budget/query": { project_id },
  "POST /budget/delete": { project_id, id: "b" },
  "POST /dataset/export": { project_id, format: "chat" },
  "POST /dataset/query": { project_id },
  "POST /training/jobs/query": { project_id },
  "POST /obj/create": { obj: { project_id, object_id: "o", val: {} } },
  "POST /obj/read": { project_id, object_id: "o", digest: "d" },
  "POST /objs/query": { project_id },
  "POST /refs/read_batch": { refs: [`weave:///${project_id}/object/o:d`] },
  "POST /file/create": null, // multipart: test/clients
  "POST /file/content": { project_id, digest: "d" },
  "POST /table/create": { table: { project_id, rows: [] } },
  "POST /table/create_from_digests": { project_id, row_digests: [] },
  "POST /table/update": { project_id, base_digest: "d", updates: [] },
  "POST /table/query": { project_id, digest: "d" },
  "POST /table/query_stats": { project_id, digest: "d" },
  "POST /otel/v1/traces": null, // the project stands in a header or in the spans: test/http/otlp
  "POST /agents/otel/v1/traces": null,
  "POST /otel/v1/logs": null,
  "POST /agents/otel/v1/logs": null,
  "POST /otel/v1/metrics": null,
  "POST /agents/otel/v1/metrics": null,
  "DELETE /projects/{entity}/{project}": {},
  "GET /audit": null, // it may name one, and shows what is about all of a key's: test/http/audit
  "GET /deletions/{id}": null, // the project stands in the receipt: test/http/projects
  "GET /projects/{entity}/{project}/retention": {},
  "PUT /projects/{entity}/{project}/retention": { days: 30 },
};

let test: TestApp;
const keys = new Map<Scope, string>();
let elsewhere: string;

beforeAll(async () => {
  test = await startApp();
  for (const scope of SCOPES) keys.set(scope, await addKey(test, [scope], ["*"]));
  elsewhere = await addKey(test, SCOPES, ["other/*"]);
});
afterAll(() => test.close());

/** Without a body that the route would act on unless asked for one: who may ask is decided before it is read. */
async function statusOf(
  route: Route,
  key: string | undefined,
  scheme: Scheme,
  body: object | null | undefined = route.method === "POST" ? {} : samples[route.route],
): Promise<number> {
  const response = await test.app.inject({
    method: route.method,
    url: route.url,
    headers: key === undefined ? {} : { authorization: authorization(key, scheme) },
    ...(body == null || route.method === "GET" ? {} : { payload: body }),
  });
  return response.statusCode;
}

it.each(routes)("$route checks key, scope and project", async (route) => {
  if (route.scope === undefined) {
    expect(PUBLIC).toContain(route.route);
    expect(await statusOf(route, undefined, "basic")).toBe(200);
    return;
  }
  expect(await statusOf(route, undefined, "basic")).toBe(401);
  const sample = samples[route.route];
  const [scheme = "basic", other] = route.schemes;
  for (const scope of SCOPES) {
    const body = scope === route.scope ? sample : undefined;
    const status = await statusOf(route, keys.get(scope), scheme, body);
    if (route.scope === "any") expect(status, scope).not.toBe(401);
    else if (implies(scope, route.scope)) expect([401, 403], scope).not.toContain(status);
    else expect(status, scope).toBe(403);
  }
  // the other scheme is as good, or is none here
  const wrong = SCOPES.find((scope) => route.scope !== "any" && !implies(scope, route.scope)) ?? "admin";
  const told = await statusOf(route, keys.get(wrong), scheme === "basic" ? "bearer" : "basic");
  expect(told === 401).toBe(other === undefined);
  if (other !== undefined && route.scope !== "any") expect(told).toBe(403);
  if (sample != null) expect(await statusOf(route, elsewhere, scheme, sample)).toBe(403);
});

function implies(scope: string, wanted: string | undefined): boolean {
  return [wanted, "admin", ...(wanted === "gateway" ? ["train"] : [])].includes(scope);
}

it("a key of scope ingest adds data, and cannot delete or set prices", () => {
  const reached = routes
    .filter((route) => route.scope === "ingest")
    .map(({ route }) => route.slice("POST ".length));
  expect(reached.toSorted()).toEqual([
    "/agents/otel/v1/logs",
    "/agents/otel/v1/metrics",
    "/agents/otel/v1/traces",
    "/call/end",
    "/call/start",
    "/call/update",
    "/call/upsert_batch",
    "/feedback/batch/create",
    "/feedback/create",
    "/feedback/replace",
    "/file/create",
    "/obj/create",
    "/otel/v1/logs",
    "/otel/v1/metrics",
    "/otel/v1/traces",
    "/table/create",
    "/table/create_from_digests",
    "/table/update",
    "/v2/{entity}/{project}/call/end",
    "/v2/{entity}/{project}/call/start",
    "/v2/{entity}/{project}/calls/complete",
  ]);
});

it("feedback is replaced under another id only by keys that can delete, and under its own by keys of scope ingest", async () => {
  const replace = async (key: string, message: object): Promise<number> => {
    const headers = { authorization: authorization(key, "bearer") };
    const payload = { ...feedback, ...message };
    return (await test.app.inject({ method: "POST", url: "/feedback/replace", headers, payload })).statusCode;
  };
  const both = await addKey(test, ["ingest", "calls:delete"], ["acme/x"]);
  expect(await replace(keys.get("ingest")!, { feedback_id: "a" })).toBe(200);
  expect(await replace(keys.get("ingest")!, { feedback_id: "a", id: "b" })).toBe(403);
  expect(await replace(both, { feedback_id: "a", id: "b" })).toBe(200);
});

it("every route that names a project has a sample", () => {
  const naming = routes.filter((route) =>
    JSON.stringify(document.paths?.[route.route.split(" ")[1]!] ?? {}).includes("project_id"),
  );
  expect(naming.map((route) => route.route).filter((route) => !(route in samples))).toEqual([]);
});
