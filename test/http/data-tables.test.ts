import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const project_id = "acme/tables";
const create = async (rows: unknown[], project = project_id) =>
  (await test.post("/table/create", { table: { project_id: project, rows } })).json() as {
    digest: string;
    row_digests: string[];
  };
const valsOf = async (digest: string) => {
  const response = await test.post("/table/query", { project_id, digest });
  return (response.json().rows as { val: unknown }[]).map(({ val }) => val);
};
const update = (base_digest: string, updates: unknown[], project = project_id) =>
  test.post("/table/update", { project_id: project, base_digest, updates });
const count = (digest: string, project = project_id) =>
  test.post("/table/query_stats", { project_id: project, digest });

describe("an updated table", () => {
  it("is a new table, equal to one created with its rows", async () => {
    const base = await create([{ n: 1 }, { n: 2 }, { n: 3 }]);
    const response = await update(base.digest, [
      { append: { row: { n: 4 } } },
      { insert: { index: 0, row: { n: 0 } } },
      { pop: { index: 2 } },
      { insert: { index: 4, row: "last" } },
    ]);
    const rows = [{ n: 0 }, { n: 1 }, { n: 3 }, { n: 4 }, "last"];
    const whole = await create(rows);
    const [zero, , , four, last] = whole.row_digests;
    expect([response.status, response.json()]).toEqual([
      200,
      { digest: whole.digest, updated_row_digests: [four, zero, base.row_digests[1], last] },
    ]);
    expect(await valsOf(whole.digest)).toEqual(rows);
    expect(await valsOf(base.digest)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect((await update(base.digest, [])).json()).toEqual({ digest: base.digest, updated_row_digests: [] });
  });

  it("accepts thousands of new rows, and 1,000 inserts and pops", async () => {
    const base = await create([]);
    const rows = Array.from({ length: 5000 }, (_, n) => ({ n }));
    const { digest } = (
      await update(
        base.digest,
        rows.map((row) => ({ append: { row } })),
      )
    ).json();
    expect(await valsOf(digest)).toEqual(rows);
    const pops = Array.from({ length: 1001 }, () => ({ pop: { index: 0 } }));
    expect((await update(digest, pops)).status).toBe(422);
    const popped = (await update(digest, pops.slice(1))).json();
    expect((await count(popped.digest)).json()).toEqual({ count: 4000 });
  });

  it.each([
    [[{ pop: { index: 1 } }], ["body", "updates", 0, "pop", "index"]],
    [[{ insert: { index: 2, row: 1 } }], ["body", "updates", 0, "insert", "index"]],
    [
      [{ append: { row: 1 } }, {}],
      ["body", "updates", 1],
    ],
    [[{ append: { row: 1 }, pop: { index: 0 } }], ["body", "updates", 0]],
    [[{ append: {} }], ["body", "updates", 0, "append", "row"]],
    [[{ pop: { index: -1 } }], ["body", "updates", 0, "pop", "index"]],
  ])("with %j is rejected", async (updates, loc) => {
    const { digest } = await create([{ only: 1 }]);
    const response = await update(digest, updates);
    expect([response.status, response.json().detail[0].loc]).toEqual([422, loc]);
  });

  it("returns 404 if its base does not exist in the project", async () => {
    const { digest } = await create([{ mine: 1 }]);
    expect((await update("unknown", [])).status).toBe(404);
    expect((await update(digest, [], "acme/other")).status).toBe(404);
    expect([(await count("unknown")).status, (await count(digest, "acme/other")).status]).toEqual([404, 404]);
  });
});

describe("a table of stored rows", () => {
  const fromDigests = (row_digests: string[], project = project_id) =>
    test.post("/table/create_from_digests", { project_id: project, row_digests });

  it("is equal to a table created with the same rows", async () => {
    const parts = [await create([1, 2]), await create([3])];
    const response = await fromDigests(parts.flatMap((part) => part.row_digests));
    expect(response.json()).toEqual({ digest: (await create([1, 2, 3])).digest });
    expect((await fromDigests([])).json()).toEqual({ digest: (await create([])).digest });
    const twice = [parts[1]!.row_digests[0]!, parts[1]!.row_digests[0]!];
    expect(await valsOf((await fromDigests(twice)).json().digest)).toEqual([3, 3]);
  });

  it("returns 404 if a row does not exist in the project", async () => {
    const { row_digests } = await create([{ elsewhere: 1 }], "acme/other");
    expect((await fromDigests(["unknown"])).status).toBe(404);
    expect((await fromDigests(row_digests)).status).toBe(404);
    expect((await fromDigests(row_digests, "acme/other")).status).toBe(200);
  });
});
