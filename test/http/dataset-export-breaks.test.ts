import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { StorageError } from "../../src/store/storage-error.ts";
import { chatCalls, type Chat } from "../helpers/chat-calls.ts";
import { interceptStatements, type Around } from "../helpers/intercept-statements.ts";
import { sendRaw, head } from "../helpers/raw-http.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

/** Passes a statement on, unless a test is in its way. */
const passOn: Around = (_name, run) => run();
let around: Around = passOn;
let test: TestApp;
let port: number;
let projects = 0;
beforeAll(async () => {
  const wrapEngine = (engine: TestApp["engine"]) =>
    interceptStatements(engine, (name, run, signal) => around(name, run, signal));
  test = await startApp({ wrapEngine });
  await test.app.listen({ host: "127.0.0.1", port: 0 });
  ({ port } = test.app.server.address() as AddressInfo);
  longProject = await projectOf(LONG);
});
afterAll(() => test.close());
beforeEach(() => {
  around = passOn;
});

const good = { json_path: "ok", op: "$eq", value: true };
/** An export of them reads two pages of calls, and has sent lines when it reads the second. */
const LONG = Array.from({ length: 80 }, (_, at) => ({
  id: `c${at}`,
  asked: `q${at}`,
  said: "x".repeat(25_000),
}));
let longProject: string;

/** Returns a new project with these calls. */
async function projectOf(calls: readonly Chat[]): Promise<string> {
  const project_id = `acme/breaks-${projects++}`;
  const batch = chatCalls(calls);
  const response = await test.post(`/v2/${project_id}/calls/complete`, { batch });
  expect(response.json()).toEqual({ rejected: [] });
  return project_id;
}

async function rate(project_id: string, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const weave_ref = `weave:///${project_id}/call/${id}`;
    const payload = { ok: id.startsWith("p") };
    const response = await test.post("/feedback/create", {
      project_id,
      weave_ref,
      feedback_type: "score",
      payload,
    });
    expect(response.status, response.text).toBe(200);
  }
}

/** Sends a request for an export over a socket of its own. */
function ask(project_id: string) {
  const body = JSON.stringify({ project_id, format: "chat" });
  const lines = [`authorization: ${authorization()}`, `content-length: ${Buffer.byteLength(body)}`];
  return sendRaw(
    port,
    head("POST /dataset/export HTTP/1.1", "host: s", "content-type: application/json", ...lines),
    body,
  );
}

async function exportsOf(project_id: string): Promise<unknown[]> {
  return (await test.post("/dataset/query", { project_id })).json().exports as unknown[];
}

/** Notes the names of statements and holds one of them back until it is aborted. */
function holdBack(held: string, nth: number): { readonly names: string[]; readonly ended: Promise<unknown> } {
  const names: string[] = [];
  const ended = Promise.withResolvers<unknown>();
  around = async (name, run, signal) => {
    names.push(name);
    if (name === held && names.filter((one) => one === held).length === nth) {
      if (signal?.aborted === false) await once(signal, "abort");
      ended.resolve(signal?.reason);
    }
    return run();
  };
  return { names, ended: ended.promise };
}

describe("an export that breaks off", () => {
  it.each([
    ["before its first line", 1],
    ["in the middle", 2],
  ] as const)("stops reading if the client leaves %s, and has no manifest", async (_name, page) => {
    const { names, ended } = holdBack("calls_read", page);
    const { socket, received } = ask(longProject);
    await until(() => names.filter((name) => name === "calls_read").length === page);
    if (page > 1) await until(() => received().length > 0);
    socket.destroy();
    expect(await ended).toBeInstanceOf(Error);
    around = passOn;
    await until(async () => (await openConnections()) === 0);
    expect(await exportsOf(longProject)).toEqual([]);
    expect(names.filter((name) => name === "calls_read")).toHaveLength(page);
    expect(names).not.toContain("dataset_export_add");
  });

  it.each([
    ["calls", "calls_read", 2],
    ["what became of them", "dataset_calls_add", 1],
    ["its manifest", "dataset_export_add", 1],
  ] as const)(
    "is a broken transfer without manifest if the store fails at %s",
    async (_name, failing, nth) => {
      let seen = 0;
      around = (name, run) => {
        if (name === failing && ++seen === nth)
          throw new StorageError("unavailable", name, undefined, "the store is away");
        return run();
      };
      const { status, complete, body } = await ask(longProject).answer;
      expect({ status, complete, isBegun: body.length > 0 }).toEqual({
        status: 200,
        complete: false,
        isBegun: true,
      });
      expect(await exportsOf(longProject)).toEqual([]);
    },
  );

  it("is an error if the store fails before the first line is sent", async () => {
    const project_id = await projectOf([{ id: "a", asked: "q", said: "a" }]);
    around = (name, run) => {
      if (name === "dataset_export_add")
        throw new StorageError("unavailable", name, undefined, "the store is away");
      return run();
    };
    const response = await test.post("/dataset/export", { project_id, format: "chat" });
    expect([response.status, response.headers["x-sumtree-export-id"]]).toEqual([503, undefined]);
    expect(await exportsOf(project_id)).toEqual([]);
  });
});

function openConnections(): Promise<number> {
  return new Promise((resolve, reject) => {
    test.app.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}

describe("an export of preferences from which calls are deleted", () => {
  /** Deletes calls once the prompts are read, before the pairs are. */
  async function exportWhileDeleting(deleted: readonly string[], more: object = {}) {
    const ids = ["p1", "p2", "p3", "f1", "f2", "f3"];
    const project_id = await projectOf(ids.map((id) => ({ id, asked: `q${id.at(-1)}`, said: `a-${id}` })));
    await rate(project_id, ids);
    let reads = 0;
    around = async (name, run) => {
      if (name !== "calls_read" || ++reads !== 2) return run();
      const { status } = await test.post("/calls/delete", { project_id, call_ids: deleted });
      expect(status).toBe(200);
      return run();
    };
    const asked = { project_id, format: "preference", feedback: good, ...more };
    const response = await test.post("/dataset/export", asked);
    const export_id = response.headers["x-sumtree-export-id"];
    const { exports, calls } = (await test.post("/dataset/query", { project_id, export_id })).json();
    const reasons = (calls as { call_id: string; line: number | null; reason: string | null }[]).map(
      ({ call_id, line, reason }) => [call_id, line ?? reason],
    );
    return { counts: exports[0].counts as object, calls: Object.fromEntries(reasons) as object };
  }

  it("tells of both calls of their pairs that they changed", async () => {
    expect(await exportWhileDeleting(["f1", "p3"])).toEqual({
      counts: { selected: 6, exported: 2, held_out: 0, left_out: { changed: 4 } },
      calls: { p1: "changed", p2: 1, p3: "changed", f1: "changed", f2: 1, f3: "changed" },
    });
  });

  it("tells so of the last pairs, and of those behind the limit that they are over it", async () => {
    expect(await exportWhileDeleting(["p2", "f2", "p3", "f3"], { limit: 1 })).toEqual({
      counts: { selected: 6, exported: 2, held_out: 0, left_out: { over_limit: 4 } },
      calls: { p1: 1, p2: "over_limit", p3: "over_limit", f1: 1, f2: "over_limit", f3: "over_limit" },
    });
    expect(await exportWhileDeleting(["p2", "f2", "p3", "f3"])).toMatchObject({
      counts: { selected: 6, exported: 2, left_out: { changed: 4 } },
    });
  });
});
