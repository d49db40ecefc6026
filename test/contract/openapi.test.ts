import type { OpenAPIV3_1 } from "openapi-types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describedRoutes, document, problemOf, responseAt } from "../helpers/openapi-document.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const HAS_NO_JSON = new Set(["DELETE /api-keys/{id}", "GET /metrics", "POST /file/content"]);
const TAKES_NO_JSON = new Set(["POST /file/create"]);

describe("openapi.json", () => {
  it("is generated from the routes", async () => {
    const response = await test.app.inject("/openapi.json");
    expect(response.json()).toEqual(document);
  });

  it("has unique names", () => {
    const ids = describedRoutes.map(({ operation }) => operation.operationId);
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

describe.each(describedRoutes)("$route", (described) => {
  const { route, operation, path, method } = described;
  const success = Object.keys(operation.responses ?? {}).find((status) => status.startsWith("2"))!;
  const { place, response } = responseAt(described, Number(success))!;

  it("has a name and a description", () => {
    expect(operation).toMatchObject({
      operationId: expect.stringMatching(/^[a-z]\w+$/),
      summary: expect.stringMatching(/^[A-Z]/),
      description: expect.stringMatching(/\.$/),
    });
    expect(response.description).not.toBe("Default Response");
  });

  it("has an example of its response, which fits the schema", () => {
    const [[type, media]] = Object.entries(response.content ?? { none: {} }) as [
      [string, OpenAPIV3_1.MediaTypeObject],
    ];
    if (HAS_NO_JSON.has(route)) return expect(type).not.toMatch(/json/);
    expect(media).toHaveProperty("example");
    expect(problemOf(media.example, ...place, "content", type, "schema")).toBeUndefined();
  });

  const body = operation.requestBody as OpenAPIV3_1.RequestBodyObject | undefined;
  if (body === undefined || TAKES_NO_JSON.has(route)) return;
  it("has an example of its request, which fits the schema", () => {
    const media = body.content["application/json"]!;
    expect(media).toHaveProperty("example");
    const schema = [
      "paths",
      path,
      method.toLowerCase(),
      "requestBody",
      "content",
      "application/json",
      "schema",
    ];
    expect(problemOf(media.example, ...schema)).toBeUndefined();
  });
});
