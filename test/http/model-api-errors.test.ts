import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ROOT_KEY, startApp, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

/** A provider that answers every request with this error. With `length`, it ends the connection too early. */
let answer: { status: number; type: string; body: string; length?: number };
let provider: Server;
let test: TestApp;
let baseUrl: string;
beforeAll(async () => {
  provider = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      const { status, type, body, length } = answer;
      response.writeHead(status, { "content-type": type, "content-length": length ?? body.length });
      response.write(body, () => (length === undefined ? response.end() : response.destroy()));
    });
  });
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  test = await startApp({ settings: { CHAT_UPSTREAM_URL: url, ANTHROPIC_UPSTREAM_URL: url } });
  baseUrl = `${await test.app.listen({ host: "127.0.0.1", port: 0 })}/v1`;
});
afterAll(async () => {
  await test.close();
  provider.closeAllConnections();
  await new Promise((resolve) => provider.close(resolve));
});

const json = { "content-type": "application/json" };
const ask = (path: string, project: string): Promise<Response> =>
  fetch(baseUrl + path, {
    method: "POST",
    headers: { authorization: `Bearer ${ROOT_KEY}`, ...json, "x-sumtree-project": project },
    body: '{"model":"m"}',
  });

interface Stored {
  readonly attributes: { readonly sumtree: Readonly<Record<string, unknown>> };
}

async function marksOf(project_id: string, count: number): Promise<readonly object[]> {
  const read = async (): Promise<readonly Stored[]> =>
    (await test.post("/calls/stream_query", { project_id })).text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Stored);
  await until(async () => (await read()).length >= count);
  return (await read()).map(({ attributes: { sumtree } }) => ({
    usage: sumtree["usage"],
    outcome: sumtree["outcome"],
  }));
}

/** Chat alone has a format of its own for them. */
const PATHS = ["/completions", "/responses", "/messages", "/embeddings", "/rerank", "/images/generations"];

it.each([
  ["detail", 422, "application/json", '{"detail":[{"loc":["body","n"],"msg":"too many"}]}'],
  ["html", 524, "text/html", "<h1>A timeout occurred</h1>"],
])("an upstream's error with %s passes unchanged", async (project, status, type, body) => {
  answer = { status, type, body };
  for (const path of PATHS) {
    const response = await ask(path, `acme/${project}`);
    const came = [response.status, response.headers.get("content-type"), await response.text()];
    expect(came, path).toEqual([status, type, body]);
  }
  expect(await marksOf(`acme/${project}`, PATHS.length)).toEqual(
    PATHS.map(() => ({ usage: "none", outcome: "error" })),
  );
});

it("an error that breaks off is replaced by one in the format of its API, and used nothing", async () => {
  answer = { status: 529, type: "application/json", body: '{"type":"err', length: 100 };
  for (const path of PATHS) {
    const response = await ask(path, "acme/cut");
    const type = path === "/messages" ? "api_error" : "upstream_error";
    const body = (await response.json()) as { readonly type?: string; readonly error: object };
    expect([response.status, body.type], path).toEqual([529, path === "/messages" ? "error" : undefined]);
    expect(body.error, path).toMatchObject({ type, code: "upstream_broken", message: expect.any(String) });
  }
  expect(await marksOf("acme/cut", PATHS.length)).toEqual(
    PATHS.map(() => ({ usage: "none", outcome: "upstream_cut" })),
  );
});
