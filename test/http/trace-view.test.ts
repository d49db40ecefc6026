import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { supportRun } from "../../scripts/demo/sample-traces.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
let url: string;
beforeAll(async () => {
  test = await startApp();
  url = await test.app.listen({ port: 0, host: "127.0.0.1" });
  const batch = supportRun("trace-1", Date.UTC(2026, 0, 1), "Where?");
  expect((await test.post("/v2/acme/app/calls/complete", { batch })).status).toBe(200);
});
const dir = mkdtempSync(join(tmpdir(), "sumtree-view-"));
afterAll(async () => {
  await test.close();
  rmSync(dir, { recursive: true });
});

const page = readFileSync(join(import.meta.dirname, "../../docs/frontends.md"), "utf8");
const list = page.match(/two requests\n[\s\S]*?(?=\n## )/)![0];
const listCode = [...list.matchAll(/```js\n([\s\S]*?)```/g)].map((match) => match[1]).join("\n");
const code = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1]).join("\n");

interface Call {
  readonly id: string;
  readonly parent_id: string | null;
}
interface View {
  readonly roots: readonly Call[];
  readonly byParent: ReadonlyMap<string | null, readonly Call[]>;
  readonly unfinished_call_ids: readonly string[];
  readonly costOf: (id: string) => { usd: number; complete: boolean };
}

function post(path: string, body: object): Promise<Response> {
  return fetch(url + path, {
    method: "POST",
    headers: { authorization: authorization(), "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

describe("docs/frontends.md", () => {
  it("lists traces and reads the calls of one, in two requests", async () => {
    const asked: string[] = [];
    const ask = (path: string, body: object) => {
      asked.push(path);
      return post(path, body);
    };
    const file = join(dir, "list.mjs");
    writeFileSync(
      file,
      `export const list = async (ask, project_id) => { ${listCode} return { total, traces, lines }; };`,
    );
    const { list: run } = (await import(pathToFileURL(file).href)) as {
      list: (...args: unknown[]) => Promise<{ total: object; traces: readonly object[]; lines: string }>;
    };
    const { total, traces, lines } = await run(ask, "acme/app");
    expect(asked).toEqual(["/traces/query", "/trace/calls"]);
    expect(traces).toMatchObject([{ trace_id: "trace-1", root: { id: "trace-1-agent" } }]);
    expect(total).toMatchObject({ traces: 1, partial: false });
    expect(lines).toContain("trace-1-agent");
  });

  it("builds a trace's tree with all costs, from two requests", async () => {
    let requests = 0;
    const ask = (path: string, body: object) => {
      requests++;
      return post(path, body);
    };
    const file = join(dir, "view.mjs");
    writeFileSync(
      file,
      `export const build = async (ask, project_id, traceId) => { ${code}
       return { roots, byParent, costOf, unfinished_call_ids }; };`,
    );
    const { build } = (await import(pathToFileURL(file).href)) as {
      build: (...args: unknown[]) => Promise<View>;
    };
    const { roots, byParent, costOf, unfinished_call_ids } = await build(ask, "acme/app", "trace-1");
    expect(requests).toBe(2);
    expect(roots.map((call) => call.id)).toEqual(["trace-1-agent"]);
    expect(byParent.get("trace-1-agent")).toHaveLength(4);
    const whole = costOf("trace-1-agent");
    expect(whole.complete).toBe(true);
    const parts = byParent.get("trace-1-agent")!.map((call) => costOf(call.id).usd);
    expect(whole.usd).toBeCloseTo(
      parts.reduce((sum, usd) => sum + usd, 0),
      12,
    );
    expect(whole.usd).toBeGreaterThan(0);
    expect(unfinished_call_ids).toEqual([]);
  });
});
