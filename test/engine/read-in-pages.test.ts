import { afterAll, beforeAll, expect, it } from "vitest";
import { readInPages } from "../../src/store/rows/read-in-pages.ts";
import { RowBinaryReader } from "../../src/store/rows/row-binary.ts";
import { param, sql } from "../../src/query/sql.ts";
import { startEngine, type TestEngine } from "../helpers/start-app.ts";

let test: TestEngine;
beforeAll(async () => {
  test = await startEngine();
});
afterAll(() => test.close());

async function pagesOf(keyCount: number, sizeOf: string) {
  const pages: { keys: number; bytes: number }[] = [];
  const read: number[] = [];
  const keys = Array.from({ length: keyCount }, (_, key) => key);
  const reader = readInPages(keys.values(), {
    engine: test.engine,
    name: "test",
    signal: new AbortController().signal,
    statement: (some) =>
      sql`SELECT toInt64(number) AS key, repeat(repeat('x', 1000), toUInt64(${{ kind: "sql", chunks: [sizeOf] }})) FROM numbers(${param("UInt64", keyCount)})
        WHERE key IN ${param("Array(Int64)", some)}`,
  });
  for await (const page of reader) {
    pages.push({ keys: page.keys.length, bytes: page.bytes.length });
    const rows = new RowBinaryReader(page.bytes);
    while (!rows.done) {
      read.push(rows.int64());
      rows.string();
    }
  }
  expect(read.toSorted((a, b) => a - b)).toEqual(keys);
  return pages;
}

it("reads small rows in large pages", async () => {
  const pages = await pagesOf(6000, "1");
  expect(pages.map((page) => page.keys > 1000)).toEqual([false, true, true]);
});

it("keeps pages small for rows of any size", async () => {
  const pages = await pagesOf(60, "if(number < 40, 1, 3000)");
  expect(Math.max(...pages.map((page) => page.bytes))).toBeLessThan(40 * 1024 * 1024);
});

it("reads a row that exceeds the page size", async () => {
  const pages = await pagesOf(3, "if(number = 1, 50000, 1)");
  expect(pages.map((page) => page.keys)).toEqual([1, 1, 1]);
});
