import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type AddressInfo } from "node:net";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Engine } from "../../src/store/engine.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { VERSION } from "../../src/version.ts";
import { authorization, startApp, startAppOn, type TestApp } from "../helpers/start-app.ts";

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

let test: TestApp;
let lines: Line[] = [];
beforeAll(async () => {
  const logger = pino({ level: "info" }, { write: (line: string) => lines.push(JSON.parse(line) as Line) });
  test = await startApp({ deps: { logger } });
});
afterAll(() => test.close());
beforeEach(() => {
  lines = [];
});

const project_id = "acme/secret-project";
const call = {
  project_id,
  id: "c1",
  trace_id: "t1",
  op_name: "op",
  started_at: "2026-01-01T00:00:00Z",
  ended_at: "2026-01-01T00:00:01Z",
  inputs: { prompt: "very private" },
  attributes: {},
  summary: { usage: { "made-up-model": { requests: 1, prompt_tokens: 2 } } },
};

function ask(
  method: "GET" | "POST",
  url: string,
  more: { payload?: object; headers?: Record<string, string> } = {},
) {
  const headers = { authorization: authorization(), ...more.headers };
  return test.app.inject({
    method,
    url,
    headers,
    ...(more.payload === undefined ? {} : { payload: more.payload }),
  });
}

/** Answers what a client waits for never, until it is aborted. */
function stuck(engine: Engine, onAsked: () => void): Engine {
  return {
    ...engine,
    bytes: (_query, _format, { name, signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener("abort", () => reject(new StorageError("aborted", name, undefined, "")));
        onAsked();
      }),
  };
}

async function metric(name: string): Promise<string[]> {
  const text = (await ask("GET", "/metrics")).payload;
  return text.split("\n").filter((line) => line.startsWith(name));
}

describe("the log", () => {
  it("has the client's address, also of rejected requests, and behind a proxy the forwarded one", async () => {
    await test.post("/trace/usage", { project_id }, { key: "st_private00000_private" });
    expect(lines).toMatchObject([{ status: 401, address: "127.0.0.1" }]);
    lines = [];
    const behind = await startAppOn(test.engine, {
      deps: { logger: test.app.log },
      settings: { TRUST_PROXY: "true" },
    });
    for (const told of ["203.0.113.7", "<b>private</b>"]) {
      await behind.app.inject({ url: "/nothing", headers: { "x-forwarded-for": told } });
    }
    expect(lines.map((line) => line["address"])).toEqual(["203.0.113.7", "127.0.0.1"]);
    await behind.close();
  });

  it("does not log an error for a client that leaves before its response", async () => {
    const client = new AbortController();
    const engine = stuck(test.engine, () => client.abort());
    const waiting = await startAppOn(engine, { deps: { logger: test.app.log } });
    const url = await waiting.app.listen({ port: 0, host: "127.0.0.1" });
    const leaves = fetch(`${url}/trace/usage`, {
      method: "POST",
      headers: { authorization: authorization(), "content-type": "application/json" },
      body: JSON.stringify({ project_id }),
      signal: client.signal,
    });
    await expect(leaves).rejects.toThrow("aborted");
    await expect
      .poll(() => lines.filter((line) => line.msg !== `Server listening at ${url}`))
      .toMatchObject([{ level: 30, msg: "request", route: "/trace/usage", complete: false }]);
    await waiting.close();
  });

  it("logs a client that left", async () => {
    await test.app.listen({ port: 0, host: "127.0.0.1" });
    const socket = connect((test.app.server.address() as AddressInfo).port, "127.0.0.1");
    socket.write(
      `POST /trace/usage HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization()}\r\nContent-Length: 10\r\n\r\n{`,
    );
    await once(test.app.server, "request");
    socket.destroy();
    await expect
      .poll(() => lines.filter((line) => line.msg === "request"))
      .toMatchObject([{ route: "/trace/usage", complete: false }]);
  });
});

describe("GET /metrics", () => {
  it("counts requests by route, statements by name, batches, roll-ups and models without a price", async () => {
    await ask("POST", "/v2/acme/secret-project/calls/complete", {
      payload: { batch: [call, { ...call, id: "c2" }] },
    });
    await ask("POST", "/trace/usage", { payload: { project_id, include_costs: true } });
    expect(await metric("sumtree_http_request_duration_seconds_count")).toContainEqual(
      expect.stringMatching(
        /method="POST",route="\/v2\/:entity\/:project\/calls\/complete",status="200"} \d/,
      ),
    );
    expect(
      await metric('sumtree_store_statement_duration_seconds_count{name="calls_add",outcome="ok"}'),
    ).toHaveLength(1);
    expect(await metric('sumtree_store_written_rows_total{name="calls_add"}')).toHaveLength(1);
    expect(await metric('sumtree_store_read_rows_total{name="usage_')).not.toHaveLength(0);
    expect(await metric('sumtree_write_batch_lag_seconds_count{name="calls_write"}')).toHaveLength(1);
    expect(await metric('sumtree_unpriced_responses_total{llm="made-up-model"}')).toHaveLength(1);
    // a job may run a statement at that moment
    await expect
      .poll(() => metric("sumtree_store_open_statements"))
      .toEqual(["sumtree_store_open_statements 0"]);
    expect(await metric("sumtree_gateway_open_requests")).toHaveLength(1);
    expect(await metric("process_resident_memory_bytes")).toHaveLength(1);
    expect(await metric("sumtree_build_info")).toEqual([`sumtree_build_info{version="${VERSION}"} 1`]);
  });

  it("has the metrics of docs/operate/monitoring.md, and no others of its own", async () => {
    const served = (await metric("# TYPE sumtree_")).map((line) => line.split(" ")[2]);
    const documented = readFileSync(join(import.meta.dirname, "../../docs/operate/monitoring.md"), "utf8")
      .split("\n")
      .filter((line) => line.startsWith("| `sumtree_"))
      .flatMap((line) => [...line.split("|")[1]!.matchAll(/`(\w+)`/g)].map((match) => match[1]));
    expect(new Set(documented)).toEqual(new Set(served));
  });

  it("rejects a key of some projects", async () => {
    const made = await test.post("/api-keys", { name: "x", scopes: ["read"], projects: ["acme/*"] });
    const { key } = made.json() as { key: string };
    const response = await ask("GET", "/metrics", { headers: { authorization: authorization(key) } });
    expect(response.statusCode).toBe(403);
  });
});
