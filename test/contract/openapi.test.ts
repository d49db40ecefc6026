import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { OpenAPIV3_1 } from "openapi-types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operations } from "../../src/openapi-operations.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

const PATH = join(import.meta.dirname, "../../openapi.json");

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const committed = JSON.parse(readFileSync(PATH, "utf8")) as OpenAPIV3_1.Document;
const described = Object.entries(committed.paths ?? {}).flatMap(([path, item]) =>
  Object.entries(item ?? {}).map(([method, operation]) => ({
    route: `${method.toUpperCase()} ${path}`,
    operation: operation as OpenAPIV3_1.OperationObject,
  })),
);

describe("openapi.json", () => {
  it("is what the routes say", async () => {
    const response = await test.app.inject("/openapi.json");
    expect(response.json()).toEqual(committed);
  });

  it.each(described)("names $route", ({ route, operation }) => {
    expect(operations[route]).toMatchObject({ id: operation.operationId, summary: operation.summary });
  });

  it("describes every route that it names, and gives no name twice", () => {
    const routes = new Set(described.map(({ route }) => route));
    expect(Object.keys(operations).filter((route) => !routes.has(route))).toEqual([]);
    const ids = Object.values(operations).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("is shown at /docs without a key", async () => {
    const page = await test.app.inject("/docs/");
    expect([page.statusCode, page.headers["content-type"]]).toEqual([
      200,
      expect.stringContaining("text/html"),
    ]);
  });
});
