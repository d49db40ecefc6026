import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Scope } from "../../src/http/auth/api-key.ts";
import { addKey } from "../helpers/add-key.ts";
import { faultyEngine } from "../helpers/faulty-engine.ts";
import { isLong } from "../helpers/runs.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
let storeIsAway = false;
let url = "";
beforeAll(async () => {
  test = await startApp({
    wrapEngine: (engine) => faultyEngine(engine, () => (storeIsAway ? "refused" : "done")),
    settings: { INGEST_BODY_LIMIT_BYTES: String(24 * 1024 * 1024) },
  });
  url = await test.app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(() => test.close());

const project_id = "acme/objects";

const keyOf = (scopes: Scope[], projects = [project_id]): Promise<string> => addKey(test, scopes, projects);

const createObject = (object_id: string, val: unknown) =>
  test.post("/obj/create", { obj: { project_id, object_id, val } });
const readObject = (object_id: string, digest: string) =>
  test.post("/obj/read", { project_id, object_id, digest });

describe("an object", () => {
  it("is returned as sent, digits included, under a digest that never changes", async () => {
    const val = '{"b":1,"a":{"big":9223372036854775807,"nothing":null,"text":"Zoë \\u0000 🎉"},"list":[]}';
    const body = `{"obj":{"project_id":"${project_id}","object_id":"o","val":${val}}}`;
    const first = (await test.post("/obj/create", body)).json();
    expect(first).toEqual({ digest: expect.stringMatching(/^[0-9A-Za-z]{43}$/) });
    expect((await test.post("/obj/create", body)).json()).toEqual(first);
    const response = await readObject("o", first.digest);
    expect(response.text).toContain('"big":9223372036854775807');
    expect(response.json().obj).toEqual({
      project_id,
      object_id: "o",
      digest: first.digest,
      kind: "object",
      base_object_class: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      deleted_at: null,
      version_index: 0,
      is_latest: 1,
      val: JSON.parse(val),
    });
  });

  it("numbers versions in the order of their first storage; a repeated one is not new", async () => {
    const digests: string[] = [];
    for (const val of [{ v: 1 }, { v: 2 }, { v: 1 }, { v: 3 }]) {
      digests.push((await createObject("versions", val)).json().digest);
    }
    expect(digests[2]).toBe(digests[0]);
    const valOf = async (digest: string) => (await readObject("versions", digest)).json().obj?.val;
    expect([await valOf("v0"), await valOf("v1"), await valOf("v2")]).toEqual([{ v: 1 }, { v: 2 }, { v: 3 }]);
    expect(await valOf("latest")).toEqual({ v: 3 });
    expect((await readObject("versions", digests[1]!)).json().obj).toMatchObject({
      version_index: 1,
      is_latest: 0,
    });
    expect((await readObject("versions", "v3")).status).toBe(404);
  });

  it("reports its kind and classes", async () => {
    const op = { _type: "CustomWeaveType", weave_type: { type: "Op" }, files: {}, load_op: "NO" };
    const model = { _type: "MyModel", _class_name: "MyModel", _bases: ["Model", "Object", "BaseModel"] };
    const plain = { _type: "Dataset", _class_name: "Dataset", _bases: ["Object", "BaseModel"] };
    const told = [];
    for (const val of [op, model, plain]) {
      const { digest } = (await createObject("kinds", val)).json();
      const { kind, base_object_class } = (await readObject("kinds", digest)).json().obj;
      told.push([kind, base_object_class]);
    }
    expect(told).toEqual([
      ["op", null],
      ["object", "Model"],
      ["object", "Dataset"],
    ]);
  });

  it("of another project is not found", async () => {
    const { digest } = (await createObject("mine", { secret: 1 })).json();
    const response = await test.post("/obj/read", { project_id: "acme/other", object_id: "mine", digest });
    expect([response.status, response.json()]).toEqual([404, { detail: "There is no such object." }]);
  });

  it("that is nested too deep, or has no name, is rejected", async () => {
    const deep = `${"[".repeat(300)}${"]".repeat(300)}`;
    const body = `{"obj":{"project_id":"${project_id}","object_id":"","val":${deep}}}`;
    const response = await test.post("/obj/create", body);
    expect([response.status, response.json().detail.map((issue: { type: string }) => issue.type)]).toEqual([
      422,
      ["too_short", "recursion_loop"],
    ]);
  });
});

async function upload(
  content: Uint8Array<ArrayBuffer>,
  fields: Record<string, string> = { project_id },
  key?: string,
) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append("file", new Blob([content]), "blob");
  const headers = { authorization: authorization(key) };
  const response = await fetch(`${url}/file/create`, { method: "POST", headers, body: form });
  return { status: response.status, body: (await response.json()) as { digest: string } };
}

async function download(digest: string): Promise<{ status: number; bytes: Buffer }> {
  const response = await fetch(`${url}/file/content`, {
    method: "POST",
    headers: { authorization: authorization(), "content-type": "application/json" },
    body: JSON.stringify({ project_id, digest }),
  });
  return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
}

describe("a file", () => {
  it.each([0, 1, 1024 * 1024, 1024 * 1024 + 1, (isLong ? 20 : 3) * 1024 * 1024])(
    "of %i bytes is returned byte for byte",
    async (size) => {
      const content = Buffer.alloc(size, "a pattern of thirty-one bytes..\u0001");
      const { status, body } = await upload(content);
      const digest = createHash("sha256")
        .update(content)
        .digest("base64url")
        .replaceAll("-", "X")
        .replaceAll("_", "Y");
      expect([status, body]).toEqual([200, { digest }]);
      const file = await download(digest);
      expect([file.status, file.bytes.equals(content)]).toEqual([200, true]);
    },
  );

  it.each([
    ["no boundary", "multipart/form-data", "x"],
    ["no end", "multipart/form-data; boundary=b", "--b\r\n"],
    ["invalid parts", "multipart/form-data; boundary=b", "--b\r\n[]--b--\r\n"],
  ])("returns 400 for a form with %s", async (_what, type, payload) => {
    const headers = { authorization: authorization(), "content-type": type };
    const response = await test.app.inject({ method: "POST", url: "/file/create", headers, payload });
    expect([response.statusCode, response.payload]).toEqual([400, expect.stringContaining("form")]);
  });

  it("returns 413 if too large, 422 without a project, 415 for another media type, 404 if unknown", async () => {
    expect((await upload(Buffer.alloc(25 * 1024 * 1024))).status).toBe(413);
    const nameless = await upload(Buffer.alloc(1), {});
    expect([nameless.status, nameless.body]).toMatchObject([
      422,
      { detail: [{ loc: ["body", "project_id"], type: "missing" }] },
    ]);
    expect((await test.post("/file/create", { project_id })).status).toBe(415);
    expect((await download("unknown")).status).toBe(404);
  });
});

describe("a table", () => {
  const create = (rows: unknown[]) => test.post("/table/create", { table: { project_id, rows } });
  const query = (digest: string, more: object = {}) =>
    test.post("/table/query", { project_id, digest, ...more });

  it("is returned in its order, entirely or in pages", async () => {
    const rows = Array.from({ length: 2500 }, (_, index) => ({
      id: index % 2400,
      text: "x".repeat(index % 50),
    }));
    const { digest, row_digests } = (await create(rows)).json();
    const all = (await query(digest)).json().rows as { digest: string; val: object }[];
    expect(all.map((row) => row.val)).toEqual(rows);
    expect(all.map((row) => row.digest)).toEqual(row_digests);
    const some = (await query(digest, { offset: 10, limit: 2 })).json().rows as { val: object }[];
    expect(some.map((row) => row.val)).toEqual(rows.slice(10, 12));
    const one = (await query(digest, { filter: { row_digests: [row_digests[200]] } })).json().rows as {
      val: object;
    }[];
    expect(one.map((row) => row.val)).toEqual([rows[200]]);
  });

  it("can be empty, and have rows of any size", async () => {
    const empty = (await create([])).json();
    expect((await query(empty.digest)).json()).toEqual({ rows: [] });
    const rows = [1, 4_000_000, 10, 6_000_000, 3].map((length, id) => ({ id, text: "x".repeat(length) }));
    const { digest } = (await create(rows)).json();
    const response = (await query(digest)).json().rows as { val: object }[];
    expect(response.map((row) => row.val)).toEqual(rows);
  });

  it("returns 404 if unknown, and 422 for another order", async () => {
    expect((await query("unknown")).status).toBe(404);
    expect((await query("unknown", { sort_by: [{ field: "a", direction: "asc" }] })).status).toBe(422);
  });
});

describe("a key of scope ingest", () => {
  it("reads content by digest, as the SDKs do, but not by name", async () => {
    const key = await keyOf(["ingest"]);
    const as = { key };
    const table = await test.post("/table/create", { table: { project_id, rows: [{ a: 1 }] } }, as);
    expect((await test.post("/table/query", { project_id, digest: table.json().digest }, as)).status).toBe(
      200,
    );
    expect((await test.post("/obj/read", { project_id, object_id: "o", digest: "latest" }, as)).status).toBe(
      403,
    );
    const trainer = await keyOf(["train"]);
    const rejected = await test.post("/table/query", { project_id, digest: "x" }, { key: trainer });
    expect(rejected.status).toBe(403);
  });
});

describe("when ClickHouse is unavailable", () => {
  it("no write is acknowledged", async () => {
    storeIsAway = true;
    const statuses = [
      (await createObject("away", {})).status,
      (await upload(Buffer.alloc(10))).status,
      (await test.post("/table/create", { table: { project_id, rows: [{}] } })).status,
    ];
    storeIsAway = false;
    expect(statuses).toEqual([503, 503, 503]);
  });
});

describe("the requests that the SDKs send first", () => {
  const get = (path: string, key?: string) =>
    test.app.inject({ url: path, headers: key === undefined ? {} : { authorization: authorization(key) } });

  it("/health and /server_info require a key of any scope", async () => {
    const key = await keyOf(["train"]);
    expect((await get("/health", key)).json()).toEqual({ status: "ok" });
    expect((await get("/server_info", key)).json()).toEqual({ min_required_weave_python_version: "0.0.0" });
    expect((await get("/health")).statusCode).toBe(401);
  });

  it("are also served under /traces", async () => {
    expect((await get("/traces/health", await keyOf(["ingest"]))).statusCode).toBe(200);
    expect((await get("/traces/health")).statusCode).toBe(401);
    expect((await get("/traces")).statusCode).toBe(404);
    expect((await get("/tracesx/health")).statusCode).toBe(404);
  });

  it.each([
    [["*"], "default"],
    [["acme/a", "acme/b"], "acme"],
    [["acme/*"], "acme"],
    [["acme/a", "other/b"], "default"],
  ])("/graphql: for a key of %j, the default entity is %s", async (projects, entity) => {
    const query = "query DefaultEntity { viewer { username defaultEntity { name } } }";
    const response = await test.post(
      "/graphql",
      { query, variables: {} },
      { key: await keyOf(["ingest"], projects) },
    );
    expect(response.json().data.viewer.defaultEntity).toEqual({ name: entity });
  });

  it.each([
    [["*"], { data: { project: { name: "agents" } } }],
    [["acme/*"], { data: { project: { name: "agents" } } }],
    [["acme/agents"], { data: { project: { name: "agents" } } }],
    [["acme/others"], { errors: [expect.objectContaining({ extensions: { code: "PERMISSION_ERROR" } })] }],
  ])(
    "/graphql: for a key of %j, the project acme/agents is found if the key covers it",
    async (projects, expected) => {
      const query =
        "query Project($name: String!, $entityName: String!) { project(name: $name, entityName: $entityName) { name } }";
      const variables = { name: "agents", entityName: "acme" };
      const response = await test.post(
        "/graphql",
        { query, variables },
        { key: await keyOf(["ingest"], projects) },
      );
      expect(response.json()).toEqual(expected);
    },
  );

  it("/graphql rejects other queries", async () => {
    expect((await test.post("/graphql", { query: "mutation { x }" })).json().errors).toHaveLength(1);
  });
});
