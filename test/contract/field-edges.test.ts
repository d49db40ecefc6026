import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { OpenAPIV3_1 } from "openapi-types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { edgesOf, type Edge } from "../helpers/edge-values.ts";
import { fullRequests } from "../helpers/full-requests.ts";
import { isLong } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";

const document = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../openapi.json"), "utf8"),
) as OpenAPIV3_1.Document;

/** Fraction of some 17,000 requests that is sent. */
const SHARE = isLong ? 0.3 : 0.006;
const random = seededRandom();
/** Issues of two fields, reported for one of them. */
const SAID_OF_ANOTHER = new Set([
  "end lies before start",
  "Costs need include_costs",
  'any_call selects traces: use it with "of": "traces"',
]);

type Schema = OpenAPIV3_1.SchemaObject;
type Path = readonly (string | number)[];

interface Field {
  readonly path: Path;
  readonly schema: Schema;
}

function resolve(schema: unknown): Schema {
  const ref = (schema as { $ref?: string }).$ref;
  if (ref === undefined) return schema as Schema;
  return resolve(document.components!.schemas![ref.split("/").at(-1)!]);
}

/** Every field of a schema, however deep; queries have a language of their own, tested elsewhere. */
function fieldsOf(sent: unknown, schema: Schema, path: Path = []): Field[] {
  const alternatives = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].map(resolve);
  const fitting = alternatives.filter(({ required = [] }) =>
    required.every((name) => Object.hasOwn(sent ?? {}, name)),
  );
  return fitting.flatMap((one) => {
    const members = Object.entries(one.properties ?? {});
    const items = "items" in one && one.maxItems !== 0 ? [["0", one.items] as const] : [];
    const values =
      typeof one.additionalProperties === "object" ? [["m", one.additionalProperties] as const] : [];
    return [...members, ...items, ...values].flatMap(([key, inner]) => {
      const at = [...path, items.length > 0 ? Number(key) : key];
      const below = resolve(inner);
      const field = { path: at, schema: below };
      const child = (sent as Record<string, unknown> | undefined)?.[key];
      return [field, ...(key === "query" || child == null ? [] : fieldsOf(child, below, at))];
    });
  });
}

const routes = Object.entries(document.paths ?? {})
  // the gateway passes on what it does not know; spans have a decoder, tested with test/http/otlp
  .filter(([path]) => !/^\/v1\/|otel/.test(path))
  .flatMap(([path, item]) =>
    Object.entries(item ?? {}).flatMap(([method, operation]) => {
      const { requestBody } = operation as { requestBody?: OpenAPIV3_1.RequestBodyObject };
      const schema = requestBody?.content?.["application/json"]?.schema;
      if (schema === undefined) return [];
      const route = `${method.toUpperCase()} ${path}`;
      return [{ route, method, path, fields: fieldsOf(fullRequests[route], resolve(schema)) }];
    }),
  );

let test: TestApp;
let count = 0;
beforeAll(async () => {
  test = await startApp({
    settings: {
      RATE_LIMIT_PER_MINUTE: "1000000000",
      KEY_MAX_CONCURRENT: "1000",
    },
  });
});
afterAll(() => test.close());

/** The request with one field changed, as text; undefined: without the field. */
function withEdge(sample: object, path: Path, edge: Edge): string {
  const body = structuredClone(sample) as Record<string, unknown>;
  let node = body;
  for (const key of path.slice(0, -1)) node = node[key] as Record<string, unknown>;
  const last = path.at(-1)!;
  if (edge.json === undefined) {
    if (Array.isArray(node)) node.splice(Number(last), 1);
    else delete node[last];
    return JSON.stringify(body).replaceAll("#", String(count++));
  }
  node[last] = "\u0001edge";
  return JSON.stringify(body)
    .replaceAll("#", String(count++))
    .replace(String.raw`"\u0001edge"`, () => edge.json!);
}

function isPrefix(one: Path, other: Path): boolean {
  return one.slice(0, other.length).every((key, index) => String(key) === String(other[index]));
}

describe.each(routes)("$route", ({ route, method, path, fields }) => {
  it("has a full request", () => {
    expect(fullRequests[route]).toBeDefined();
    const lacking = fields.filter(({ path }) => {
      let node: unknown = fullRequests[route];
      for (const key of path) node = (node as Record<string, unknown> | null | undefined)?.[key];
      // an update has exactly one of its members
      const isLeftOut = path.includes("query") || path.at(-2) === "sort_by" || path[0] === "updates";
      return node === undefined && !isLeftOut;
    });
    expect(lacking.map((field) => field.path.join("."))).toEqual([]);
  });

  it(`accepts or rejects edge values of every field, and blames no other field, seed ${random.seed}`, async () => {
    const tried = fields
      .flatMap((field) => edgesOf(field.schema).map((edge) => ({ field, edge })))
      .filter(() => random.next() < SHARE);
    const issues: string[] = [];
    const attempt = async ({ field, edge }: (typeof tried)[number]) => {
      const response = await test.app.inject({
        method: method.toUpperCase() as "POST",
        url: path
          .replace("{entity}", "acme")
          .replace("{project}", "edges")
          .replaceAll(/\{\w+\}/g, "x"),
        headers: { authorization: authorization(), "content-type": "application/json" },
        payload: withEdge(fullRequests[route]!, field.path, edge),
      });
      const told = `${field.path.join(".")} = ${edge.name}: ${response.statusCode} ${response.payload.slice(0, 300)}`;
      if (![200, 201, 202, 400, 403, 404, 409, 413, 422].includes(response.statusCode)) issues.push(told);
      if (response.statusCode === 422) {
        const detail = (JSON.parse(response.payload) as { detail: { loc: Path; msg: string }[] }).detail;
        const elsewhere = detail.filter(
          ({ loc, msg }) =>
            !isPrefix(loc.slice(1), field.path) &&
            !isPrefix(field.path, loc.slice(1)) &&
            !SAID_OF_ANOTHER.has(msg),
        );
        if (elsewhere.length > 0) issues.push(`blames another: ${told}`);
      }
    };
    for (let from = 0; from < tried.length; from += 64)
      await Promise.all(tried.slice(from, from + 64).map(attempt));
    expect(issues.map((issue) => issue.slice(0, 400))).toEqual([]);
  });
});
