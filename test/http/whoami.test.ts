import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
  for (const project_id of ["acme/a", "acme/b", "acmex/c"]) {
    const start = { project_id, id: "x", trace_id: "t", op_name: "o", started_at: "2026-01-01T00:00:00Z" };
    expect((await test.post("/call/start", { start })).status).toBe(200);
  }
  const weave_ref = "weave:///other/f/call/x";
  const feedback = { project_id: "other/f", weave_ref, feedback_type: "f", payload: {} };
  expect((await test.post("/feedback/create", feedback)).status).toBe(200);
});
afterAll(() => test.close());

async function me(facts?: { scopes: string[]; projects: string[]; expires_at?: string }) {
  const made =
    facts && ((await test.post("/api-keys", { name: "mine", ...facts })).json() as { key: string });
  const response = await test.app.inject({
    url: "/me",
    headers: { authorization: authorization(made?.key) },
  });
  return response.json<Record<string, unknown>>();
}

describe("GET /me", () => {
  it("returns the rights of the root key, and all projects with calls or feedback", async () => {
    expect(await me()).toEqual({
      id: "root",
      name: "root",
      scopes: ["admin"],
      projects: ["*"],
      expires_at: null,
      projects_with_data: ["acme/a", "acme/b", "acmex/c", "other/f"],
      truncated: false,
    });
  });

  it("returns a key's own projects, and nothing of others", async () => {
    const expires_at = "2099-01-01T00:00:00.000Z";
    const patterns = ["acme/*", "other/f", "other/none"];
    expect(await me({ scopes: ["read"], projects: patterns, expires_at })).toEqual({
      id: expect.stringMatching(/^[0-9a-z]{12}$/),
      name: "mine",
      scopes: ["read"],
      projects: patterns,
      expires_at,
      projects_with_data: ["acme/a", "acme/b", "other/f"],
      truncated: false,
    });
  });

  it("does not list projects for a key without the scope read", async () => {
    expect(await me({ scopes: ["ingest"], projects: ["*"] })).toMatchObject({ projects_with_data: null });
  });

  it("requires a key, and never returns its hash", async () => {
    expect((await test.app.inject("/me")).statusCode).toBe(401);
    expect(JSON.stringify(await me())).not.toMatch(/[0-9a-f]{64}/);
  });
});
