import { expect } from "vitest";
import type { Scope } from "../../src/http/auth/api-key.ts";
import type { TestApp } from "./start-app.ts";

/** Creates a key, and returns its text. */
export async function addKey(
  test: Pick<TestApp, "post">,
  scopes: readonly Scope[],
  projects: readonly string[],
): Promise<string> {
  const answer = await test.post("/api-keys", { name: "test", scopes, projects });
  expect(answer.status).toBe(201);
  return answer.json().key as string;
}
