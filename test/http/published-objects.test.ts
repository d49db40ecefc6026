import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../../src/store/engine.ts";
import { addKey } from "../helpers/add-key.ts";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
let statements = 0;
/** Engine that counts its SELECT statements. */
const counted = (engine: Engine): Engine => ({
  ...engine,
  rows: (...statement) => (statements++, engine.rows(...statement)),
  bytes: (...statement) => (statements++, engine.bytes(...statement)),
});
/** Key that covers only `acme/published`. */
let key: string;
beforeAll(async () => {
  test = await startApp({ wrapEngine: counted });
  key = await addKey(test, ["read"], [project_id]);
});
afterAll(() => test.close());

const project_id = "acme/published";

async function publish(object_id: string, val: unknown, project = project_id): Promise<string> {
  const response = await test.post("/obj/create", { obj: { project_id: project, object_id, val } });
  const { digest } = response.json() as { digest: string };
  return `weave:///${project}/object/${object_id}:${digest}`;
}
async function table(rows: unknown[]) {
  const response = (await test.post("/table/create", { table: { project_id, rows } })).json();
  return response as { digest: string; row_digests: string[] };
}
const classOf = (_class_name: string, base: string, more: object = {}) => ({
  _type: _class_name,
  _class_name,
  _bases: [base, "Object", "BaseModel"],
  ...more,
});

describe("POST /objs/query", () => {
  const project = "acme/listed";
  const list = async (more: object = {}) => {
    const response = await test.post("/objs/query", { project_id: project, ...more });
    expect(response.status, response.text).toBe(200);
    return {
      objs: response.json().objs as Record<string, unknown>[],
      truncated: response.headers["x-truncated"],
    };
  };
  const named = async (more: object) =>
    (await list(more)).objs.map(
      ({ object_id, version_index }) => `${object_id as string}:v${version_index as number}`,
    );
  const op = { _type: "CustomWeaveType", weave_type: { type: "Op" }, files: {} };
  beforeAll(async () => {
    for (const v of [1, 2, 3]) await publish("model", classOf("Cat", "Model", { v }), project);
    await publish("scorer", classOf("Exact", "Scorer"), project);
    await publish("run", op, project);
    await publish("plain", { big: 1 }, project);
    await publish("elsewhere", { secret: 1 }, "acme/other");
  });

  it.each([
    [{}, ["model:v0", "model:v1", "model:v2", "plain:v0", "run:v0", "scorer:v0"]],
    [{ filter: { is_op: true } }, ["run:v0"]],
    [{ filter: { is_op: false, latest_only: true } }, ["model:v2", "plain:v0", "scorer:v0"]],
    [{ filter: { object_ids: ["model", "elsewhere"] } }, ["model:v0", "model:v1", "model:v2"]],
    [{ filter: { object_ids: [] } }, []],
    [{ filter: { base_object_classes: ["Model", "Scorer"], latest_only: true } }, ["model:v2", "scorer:v0"]],
    [{ filter: { exclude_base_object_classes: ["Model"], is_op: false } }, ["plain:v0", "scorer:v0"]],
    [{ filter: { leaf_object_classes: ["Exact"] } }, ["scorer:v0"]],
    [{ filter: null, sort_by: null, limit: 2, offset: 1 }, ["model:v1", "model:v2"]],
    [
      {
        sort_by: [
          { field: "object_id", direction: "desc" },
          { field: "created_at", direction: "desc" },
        ],
        limit: 3,
      },
      ["scorer:v0", "run:v0", "plain:v0"],
    ],
    [{ limit: 0 }, []],
  ])("%j lists %j", async (more, expected) => {
    expect(await named(more)).toEqual(expected);
  });

  it("returns values or metadata only, and reports a truncated list", async () => {
    const { objs } = await list({ filter: { object_ids: ["plain"] } });
    expect(objs).toMatchObject([{ project_id: project, val: { big: 1 }, is_latest: 1, kind: "object" }]);
    const bare = await list({ filter: { object_ids: ["plain"] }, metadata_only: true });
    expect(bare.objs).toEqual([{ ...objs[0], val: {} }]);
    expect([(await list({ limit: 5 })).truncated, (await list({ limit: 6 })).truncated]).toEqual([
      "true",
      "false",
    ]);
  });

  it("reads values larger than a page", async () => {
    const sizes = [10, 9_000_000, 3];
    for (const size of sizes) await publish("large", { text: "x".repeat(size) }, "acme/large");
    const response = await test.post("/objs/query", { project_id: "acme/large" });
    const objs = response.json().objs as { val: { text: string } }[];
    expect(objs.map(({ val }) => val.text.length)).toEqual(sizes);
  });

  it("rejects tags and aliases, other orders, and projects that the key does not cover", async () => {
    const body = {
      project_id: project,
      filter: { tags: ["x"], aliases: ["y"] },
      sort_by: [{ field: "val" }],
    };
    const response = await test.post("/objs/query", body);
    expect([response.status, response.json().detail.length]).toEqual([422, 4]);
    expect((await test.post("/objs/query", { project_id: project }, { key })).status).toBe(403);
  });
});

describe("POST /refs/read_batch", () => {
  const read = (refs: readonly string[], as: { key?: string } = {}) =>
    test.post("/refs/read_batch", { refs }, as);
  const valsOf = async (...refs: string[]) => (await read(refs)).json().vals as unknown[];

  it("reads objects, paths into them, and rows of tables, in the order of the references", async () => {
    const rows = await table([{ q: 1 }, { q: { "a/b": ["x", "y"] } }]);
    const held = { rows: `weave:///${project_id}/table/${rows.digest}`, list: [1, { deep: null }], big: 2 };
    const ref = await publish("dataset", held);
    const row = rows.row_digests[1]!;
    expect(
      await valsOf(
        `${ref}/attr/list/index/1`,
        ref,
        `${ref}/attr/rows/id/${row}/key/q/key/a%2Fb/index/1`,
        `weave:///${project_id}/table/${rows.digest}/id/${row}`,
        `weave:///${project_id}/object/dataset:latest/attr/big`,
        `weave:///${project_id}/op/dataset:v0/attr/list/index/0`,
        `${ref}/attr/rows`,
      ),
    ).toEqual([{ deep: null }, held, "y", { q: { "a/b": ["x", "y"] } }, 2, 1, held.rows]);
    expect(await valsOf()).toEqual([]);
  });

  it("keeps every digit", async () => {
    const body = `{"obj":{"project_id":"${project_id}","object_id":"digits","val":{"a":{"n":9223372036854775807}}}}`;
    await test.post("/obj/create", body);
    const ref = `weave:///${project_id}/object/digits:latest`;
    expect((await read([ref, `${ref}/attr/a`])).text).toBe(
      '{"vals":[{"a":{"n":9223372036854775807}},{"n":9223372036854775807}]}',
    );
  });

  it("returns null for a path that does not exist or is a cycle", async () => {
    const ref = await publish("end", { list: [1], text: "no ref", proto: {} });
    const circle = `weave:///${project_id}/object/circle:latest/attr/next`;
    await publish("circle", { next: `${circle}/attr/next`, gone: `weave:///${project_id}/object/gone:v0` });
    const nowhere = [
      "attr/x",
      "attr/list/index/1",
      "attr/list/index/-1",
      "attr/list/key/length",
      "attr/text/attr/x",
    ];
    expect(
      await valsOf(...nowhere.map((way) => `${ref}/${way}`), `${ref}/attr/proto/attr/constructor`),
    ).toEqual(Array.from({ length: 6 }, () => null));
    expect(await valsOf(`${circle}/attr/x`, circle.replace("next", "gone/attr/x"))).toEqual([null, null]);
  });

  it("names the position of a missing target, and of an invalid reference", async () => {
    const ref = await publish("there", 1);
    const missing = await read([ref, ref.replace("there", "missing")]);
    expect([missing.status, missing.json()]).toEqual([
      404,
      { detail: "The target of refs[1] does not exist." },
    ]);
    expect((await read([`weave:///${project_id}/table/x/id/y`])).status).toBe(404);
    const wrong = await read([ref, `weave:///${project_id}/call/x`, "x"]);
    expect(wrong.status).toBe(422);
    expect(wrong.json().detail.map(({ loc }: { loc: unknown[] }) => loc)).toEqual([
      ["body", "refs", 1],
      ["body", "refs", 2],
    ]);
    const many = Array.from({ length: 1001 }, () => ref);
    expect([(await read(many.slice(1))).status, (await read(many)).status]).toEqual([200, 422]);
  });

  it("reads no project that the key does not cover, neither directly nor through a reference", async () => {
    const other = await publish("secret", { x: 1 }, "acme/other");
    const ref = await publish("leads-out", { other });
    expect((await read([other], { key })).status).toBe(403);
    expect((await read([`${ref}/attr/other/attr/x`], { key })).json()).toEqual({ vals: [null] });
    expect(await valsOf(`${ref}/attr/other/attr/x`)).toEqual([1]);
  });

  it("reads 1,000 references of all forms as it reads each separately, in a few statements", async () => {
    const random = seededRandom();
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random.next() * from.length)]!;
    const rows = await table(
      Array.from({ length: 300 }, (_, n) => ({ n, text: "x".repeat(n * 20), deep: [n] })),
    );
    const tableRef = `weave:///${project_id}/table/${rows.digest}`;
    const starts: string[] = rows.row_digests.map((row) => `${tableRef}/id/${row}`);
    for (const v of [0, 1, 2]) {
      const ref = await publish("many", { v, rows: tableRef, self: `weave:///${project_id}/object/many:v0` });
      const ways = [
        "",
        ...rows.row_digests.slice(0, 20).map((row) => `/attr/rows/id/${row}`),
        "/attr/self/attr/v",
      ];
      for (const way of ways)
        starts.push(ref + way, ref.replace(/[^:]*$/, pick(["latest", "v0", "v001"])) + way);
    }
    starts.push(await publish("elsewhere", { deep: [1] }, "acme/other"));
    const refs = Array.from(
      { length: 1000 },
      () => pick(starts) + pick(["", "/attr/deep", "/attr/deep/index/0", "/key/v"]),
    );
    statements = 0;
    const together = await valsOf(...refs);
    expect(statements).toBeLessThan(40);
    for (let one = 0; one < runs(10, 60); one++) {
      const at = Math.floor(random.next() * refs.length);
      expect(together[at], refs[at]).toEqual((await valsOf(refs[at]!))[0]);
    }
  });
});
