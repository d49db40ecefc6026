import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasProgram } from "../helpers/has-program.ts";
import { ROOT_KEY, startApp, type TestApp } from "../helpers/start-app.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGES = [
  "coding-agents",
  "feedback",
  "frontends",
  "gateway",
  "prices",
  "query-language",
  "trace-lists",
  "usage-stats",
];

const commands = PAGES.flatMap((page) => {
  const text = readFileSync(join(ROOT, `docs/${page}.md`), "utf8");
  const blocks = [...text.matchAll(/```sh\n([^]*?)```/g)].map(([, block]) => block!);
  // a line such as CORS_ORIGINS=… is a setting
  return blocks.filter((block) => !/^[A-Z_]+=/.test(block)).map((command) => ({ page, command }));
});

let test: TestApp;
let url: string;
beforeAll(async () => {
  test = await startApp();
  url = await test.app.listen({ port: 0, host: "127.0.0.1" });
  const times = { started_at: "2026-11-01T12:00:00Z", ended_at: "2026-11-01T12:00:02Z" };
  const call = { ...times, id: "call-1", trace_id: "trace-1", op_name: "chat", attributes: {}, inputs: {} };
  const summary = { usage: { "gpt-4o": { requests: 1, prompt_tokens: 1200, completion_tokens: 300 } } };
  const batch = [{ ...call, project_id: "acme/app", summary }];
  expect((await test.post("/v2/acme/app/calls/complete", { batch })).status).toBe(200);
});
afterAll(() => test.close());

describe.runIf(hasProgram("curl"))("the commands of the docs", () => {
  it.each(commands)("succeed: $page, $command", async ({ command }) => {
    const text = command
      .replaceAll(/^curl /gm, "curl --silent --show-error --fail-with-body ")
      .replaceAll(/(?:http:\/\/)?localhost:8080/g, url);
    const env = { PATH: process.env["PATH"], HOME: process.env["HOME"], KEY: ROOT_KEY };
    const { stdout } = await promisify(execFile)("sh", ["-ec", text], { cwd: ROOT, env });
    expect(stdout).not.toBe("");
  });

  it("come from several pages", () => expect(commands.length).toBeGreaterThan(5));
});
