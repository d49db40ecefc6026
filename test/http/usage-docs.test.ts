import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../helpers/start-app.ts";

const page = readFileSync(`${import.meta.dirname}/../../docs/usage-stats.md`, "utf8");
const questions = [
  ...page.matchAll(
    /\*\*(.*?)\*\*[^`]*(?:`[^`]+`[^`]*)*```json ask\n([^`]*)```\n\n```json answer\n([^`]*)```/g,
  ),
].map(([, name, ask, answer]) => ({
  name: name!,
  ask: JSON.parse(ask!) as object,
  answer: JSON.parse(answer!) as object,
}));

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
  const batch = JSON.parse(/```json calls\n([^`]*)```/.exec(page)![1]!) as unknown[];
  const stored = await test.post("/v2/acme/assist/calls/complete", { batch });
  expect(stored.json()).toEqual({ rejected: [] });
  const feedback = JSON.parse(/```json feedback\n([^`]*)```/.exec(page)![1]!) as unknown[];
  const rated = await test.post("/feedback/batch/create", { batch: feedback });
  expect(rated.json().rejected).toEqual([]);
});
afterAll(() => test.close());

describe("docs/usage-stats.md", () => {
  it("has five examples", () => {
    expect(questions).toHaveLength(5);
  });

  it.each(questions)("returns the documented response: $name", async ({ ask, answer }) => {
    const answered = await test.post("/usage/stats", ask);
    expect(answered.status, answered.text).toBe(200);
    expect(answered.json()).toMatchObject(answer);
  });
});
