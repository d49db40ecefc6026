import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Engine } from "../../src/store/engine.ts";
import type { LimitTable } from "../../src/store/limits.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { join, param, sql, trusted, type ParamType, type ParamValue } from "../../src/query/sql.ts";

export interface Opened {
  readonly engine: Engine;
  close(): Promise<void>;
}

/** Bounds small enough to be met in a test. */
export const testLimits: LimitTable = {
  interactive: { max_execution_time: 1, max_memory_usage: 50_000_000, max_result_bytes: 1_000_000 },
  heavy: { max_execution_time: 20, max_memory_usage: 500_000_000, max_result_bytes: 500_000_000 },
  ingest: { max_execution_time: 20, max_memory_usage: 500_000_000, max_result_bytes: 500_000_000 },
  maintenance: { max_execution_time: 20, max_memory_usage: 500_000_000, max_result_bytes: 500_000_000 },
};

const options = { name: "conformance", limits: "heavy" } as const;
const nasty = [
  "",
  " ",
  "plain",
  "a\tb\nc\rd\be\ff\0g",
  String.raw`\N \\N \' \" \t \x41 {p0:String}`,
  `' OR 1=1 --; DROP TABLE x; /* " \` */`,
  "NULL",
  "žluťoučký 日本語 🦄 \u2028 \ufffd",
  "100%_[a-z]*",
];

/** Tests that every adapter of the engine port must pass. `open` returns an engine with `testLimits` on an empty store. */
export function describeEngine(name: string, open: () => Promise<Opened>): void {
  describe(name, () => {
    let opened: Opened;
    let engine: Engine;
    const said = (["log", "info", "warn", "error"] as const).map((level) => vi.spyOn(console, level));
    beforeAll(async () => {
      opened = await open();
      engine = opened.engine;
    });
    afterAll(async () => {
      await opened?.close();
      // drivers like to log what they were asked to do, values included
      for (const spy of said) expect(spy).not.toHaveBeenCalled();
    });
    const theEngine = (): Engine => engine;

    describeParams(theEngine);
    describeLargeParams(theEngine);
    describeAnswers(theEngine);
    describeInserts(theEngine);
    describeFailures(theEngine);
    describeConcurrency(theEngine);
  });
}

function describeParams(engine: () => Engine): void {
  const back = async (type: ParamType, value: ParamValue): Promise<unknown> => {
    const [row] = await engine().rows<{ v: unknown; t: string }>(
      sql`SELECT ${param(type, value)} AS v, toTypeName(v) AS t`,
      options,
    );
    expect(row?.t).toBe(type);
    return row?.v;
  };

  describe("parameters", () => {
    it.each(nasty)("String %j round-trips", async (text) => {
      expect(await back("String", text)).toBe(text);
      expect(await back("Nullable(String)", text)).toBe(text);
    });
    it("Array(String) round-trips the same texts", async () => {
      expect(await back("Array(String)", nasty)).toEqual(nasty);
      expect(await back("Array(String)", [])).toEqual([]);
    });
    it("null is NULL, and the text \\N is not", async () => {
      expect(await back("Nullable(String)", null)).toBeNull();
      expect(await back("Nullable(String)", String.raw`\N`)).toBe(String.raw`\N`);
    });
    it("64-bit integers keep every digit as text", async () => {
      const asText = async (type: "Int64" | "UInt64", value: string): Promise<unknown> => {
        const [row] = await engine().rows<{ v: string }>(
          sql`SELECT toString(${param(type, value)}) AS v`,
          options,
        );
        return row?.v;
      };
      expect(await asText("Int64", "-9223372036854775808")).toBe("-9223372036854775808");
      expect(await asText("UInt64", "18446744073709551615")).toBe("18446744073709551615");
      expect(await asText("Int64", "9007199254740993")).toBe("9007199254740993");
    });
    it("arrays of numbers accept numbers and their texts", async () => {
      expect(await back("Array(Int64)", [-1, 0, 2])).toEqual([-1, 0, 2]);
      expect(await back("Array(Int64)", ["-1", "0", "2"])).toEqual([-1, 0, 2]);
      expect(await back("Array(UInt64)", ["0", "4294967296"])).toEqual([0, 4_294_967_296]);
      expect(await back("Array(Float64)", [-0.5, 1e300, 1e-7, 0])).toEqual([-0.5, 1e300, 1e-7, 0]);
    });
    it("numbers, booleans and instants keep their values", async () => {
      expect(await back("Float64", 0.1)).toBe(0.1);
      expect(await back("Float64", 1e21)).toBe(1e21);
      expect(await back("UInt32", 4_294_967_295)).toBe(4_294_967_295);
      expect([await back("Bool", true), await back("Bool", false)]).toEqual([true, false]);
      expect(await back("DateTime64(6, 'UTC')", "2026-02-28 23:59:59.999999")).toBe(
        "2026-02-28 23:59:59.999999",
      );
      expect(await back("DateTime64(3, 'UTC')", "1969-12-31 23:59:59.999")).toBe("1969-12-31 23:59:59.999");
    });
    it("one parameter can be used in two positions", async () => {
      const one = param("String", "x");
      const rows = await engine().rows(
        sql`SELECT ${one} AS a, concat(${one}, ${param("String", "y")}) AS b`,
        options,
      );
      expect(rows).toEqual([{ a: "x", b: "xy" }]);
    });
    it("a value that does not fit its type is rejected", async () => {
      await expect(back("Int64", "12; SELECT 1")).rejects.toMatchObject({ kind: "statement" });
    });
  });
}

function describeLargeParams(engine: () => Engine): void {
  describe("large parameters", () => {
    it("eleven lists of 10,000 ids arrive complete and select by them", async () => {
      const lists = Array.from({ length: 11 }, (_, list) =>
        Array.from({ length: 10_000 }, (_, id) => `${list}-${id}-0123456789abcdef'\\`),
      );
      const [row] = await engine().rows<Record<string, number>>(
        sql`SELECT ${join(
          lists.map(
            (list, index) =>
              sql`length(arrayDistinct(${param("Array(String)", list)})) AS c${trusted(String(index))}`,
          ),
          ", ",
        )}`,
        options,
      );
      expect(Object.values(row!)).toEqual(lists.map(() => 10_000));
      const found = await engine().rows(
        sql`SELECT count() AS n FROM numbers(20000)
            WHERE concat('3-', toString(number), ${param("String", "-0123456789abcdef'\\")}) IN ${param("Array(String)", lists[3]!)}`,
        options,
      );
      expect(found).toEqual([{ n: 10_000 }]);
    });
    it("a text of a megabyte, and a list with one, round-trip", async () => {
      const text = `x${"🦄".repeat(150_000)}${"'\\\n".repeat(100_000)}`;
      const [row] = await engine().rows<{ a: string; b: string[] }>(
        sql`SELECT ${param("String", text)} AS a, ${param("Array(String)", ["x", text, "y"])} AS b`,
        options,
      );
      expect(row?.a === text).toBe(true);
      expect(row?.b.map((one) => one === text)).toEqual([false, true, false]);
    });
    it("3,000 parameters of several types keep their positions", async () => {
      const values = Array.from({ length: 1500 }, (_, n) => n);
      const fields = values.map((n) => sql`tuple(${param("String", `s${n}`)}, ${param("Float64", n + 0.5)})`);
      const [row] = await engine().rows<{ v: [string, number][] }>(
        sql`SELECT [${join(fields, ", ")}] AS v, ${param("Bool", true)} AS b`,
        options,
      );
      expect(row?.v).toEqual(values.map((n) => [`s${n}`, n + 0.5]));
    });
    it("a parameter is a constant: a path and a pattern can be parameters, for any number of them", async () => {
      const many = Array.from(
        { length: 1200 },
        (_, n) =>
          sql`JSONExtractString('{"a":{"b":"x${trusted(String(n))}"}}', ${param("String", "a")}, ${param("String", "b")}) LIKE ${param("String", `x${n}`)}`,
      );
      const rows = await engine().rows(sql`SELECT ${join(many, " AND ")} AS ok`, options);
      expect(rows).toEqual([{ ok: 1 }]);
    });
  });
}

function describeAnswers(engine: () => Engine): void {
  describe("results", () => {
    it("RowBinary bytes are returned unchanged", async () => {
      const bytes = await engine().bytes(
        sql`SELECT number, toString(number) AS s, toInt64(-number) AS i FROM numbers(3)`,
        "RowBinary",
        options,
      );
      const expected = [0n, 1n, 2n].map((n) => {
        const row = Buffer.alloc(18);
        row.writeBigUInt64LE(n);
        row.write(`\u0001${n}`, 8, "latin1");
        row.writeBigInt64LE(-n, 10);
        return row;
      });
      expect(bytes).toEqual(Buffer.concat(expected));
    });
    it("JSONEachRow is one line per row, 64-bit integers as numbers", async () => {
      const bytes = await engine().bytes(
        sql`SELECT toInt64(5) AS n, 'é' AS s FROM numbers(2)`,
        "JSONEachRow",
        options,
      );
      expect(bytes.toString()).toBe('{"n":5,"s":"é"}\n{"n":5,"s":"é"}\n');
    });
    it("an empty result has no rows", async () => {
      expect(await engine().rows(sql`SELECT 1 AS n WHERE 0`, options)).toEqual([]);
      expect(await engine().bytes(sql`SELECT 1`, "Null", options)).toHaveLength(0);
    });
    it("a large result is complete", async () => {
      const bytes = await engine().bytes(sql`SELECT number FROM numbers(3000000)`, "RowBinary", options);
      expect(bytes).toHaveLength(24_000_000);
      expect(bytes.readBigUInt64LE(23_999_992)).toBe(2_999_999n);
    });
    it("the limits of a query are its own, for any previous query", async () => {
      const seconds = async (limits: "interactive" | "heavy" | "ingest"): Promise<unknown> => {
        const asked = sql`SELECT toInt64(getSetting('max_execution_time')) AS s, ${param("String", limits)} AS l`;
        return engine().rows(asked, { ...options, limits });
      };
      for (const limits of ["heavy", "interactive", "ingest", "interactive", "heavy"] as const) {
        expect(await seconds(limits)).toEqual([{ s: testLimits[limits].max_execution_time, l: limits }]);
        await engine()
          .insert("no_such_table", [{ a: 1 }], options)
          .catch(() => undefined);
        await engine()
          .rows(sql`SELECT throwIf(1)`, options)
          .catch(() => undefined);
      }
    });
    it("a query can have its own settings, which end with it", async () => {
      const setting = sql`SELECT value FROM system.settings WHERE name = 'max_block_size'`;
      const [own] = await engine().rows(sql`${setting} SETTINGS max_block_size = 17`, options);
      expect(own).toEqual({ value: "17" });
      const [next] = await engine().rows(setting, options);
      expect(next).not.toEqual(own);
    });
    it("the limits of one statement do not apply to the next", async () => {
      const limit = sql`SELECT toFloat64(value) AS v FROM system.settings WHERE name = 'max_execution_time'`;
      expect(await engine().rows(limit, { name: "conformance", limits: "heavy" })).toEqual([{ v: 20 }]);
      expect(await engine().rows(limit, { name: "conformance", limits: "interactive" })).toEqual([{ v: 1 }]);
    });
    it("a read cannot write", async () => {
      await engine().command(sql`CREATE TABLE IF NOT EXISTS kept (n UInt8) ENGINE = Memory`, options);
      await engine().command(sql`INSERT INTO kept SELECT 1`, options);
      expect(await engine().rows(sql`SELECT n FROM kept`, options)).toEqual([{ n: 1 }]);
      await expect(engine().bytes(sql`DROP TABLE kept`, "Null", options)).rejects.toBeInstanceOf(
        StorageError,
      );
    });
    it("a statement can be long", async () => {
      const long = Array.from(
        { length: 10_000 },
        (_, n) => sql`(${trusted(String(n))} /* ${trusted("x".repeat(40))} */)`,
      );
      const rows = await engine().rows(
        sql`SELECT length([${join(long, ", ")}]) AS n, ${param("String", "p")} AS p`,
        options,
      );
      expect(rows).toEqual([{ n: 10_000, p: "p" }]);
    });
    it("line breaks in literals and parameters stay, beside parameters and without", async () => {
      const breaks = "a\nb\rc\r\nd\n";
      const literal = trusted(`'${breaks}'`);
      expect(await engine().rows(sql`SELECT ${literal} AS v`, options)).toEqual([{ v: breaks }]);
      const beside = sql`SELECT ${literal} AS v, ${param("String", breaks)} AS p`;
      expect(await engine().rows(beside, options)).toEqual([{ v: breaks, p: breaks }]);
    });
    it("returns its version", async () => {
      expect(await engine().version()).toMatch(/^\d+\.\d+\./);
    });
  });
}

function describeInserts(engine: () => Engine): void {
  describe("inserts", () => {
    it("rows round-trip; omitted columns have their defaults", async () => {
      await engine().command(
        sql`CREATE TABLE rows_in (id UInt32, text String, list Array(String), more Nullable(String),
              big Int64, made String DEFAULT concat('made-', toString(id)))
            ENGINE = MergeTree ORDER BY id SETTINGS fsync_after_insert = 1`,
        options,
      );
      const rows = nasty.map((text, id) => ({ id, text, list: [text, text], big: "-9223372036854775808" }));
      await engine().insert("rows_in", [...rows, { id: 100, text: "x", more: "m", made: "set" }], options);
      const stored = await engine().rows<Record<string, unknown>>(
        sql`SELECT id, text, list, more, toString(big) AS big, made FROM rows_in ORDER BY id`,
        options,
      );
      expect(stored).toEqual([
        ...rows.map((row) => ({ ...row, more: null, made: `made-${row.id}` })),
        { id: 100, text: "x", list: [], more: "m", big: "0", made: "set" },
      ]);
    });
    it("a large batch is stored once and completely", async () => {
      await engine().command(
        sql`CREATE TABLE bulk (n UInt32, t String) ENGINE = MergeTree ORDER BY n`,
        options,
      );
      const rows = Array.from({ length: 20_000 }, (_, n) => ({ n, t: "lorem ipsum ".repeat(20) }));
      await engine().insert("bulk", rows, options);
      expect(await engine().rows(sql`SELECT count() AS c, uniqExact(n) AS u FROM bulk`, options)).toEqual([
        { c: 20_000, u: 20_000 },
      ]);
    });
    it('is rejected with kind "statement" if a row does not fit its table', async () => {
      await engine().command(sql`CREATE TABLE narrow (n UInt8) ENGINE = MergeTree ORDER BY n`, options);
      await expect(engine().insert("narrow", [{ n: 1 }, { n: "many" }], options)).rejects.toMatchObject({
        kind: "statement",
      });
      expect(await engine().rows(sql`SELECT n FROM narrow`, options)).toEqual([]);
    });
    it("rows of one insert with one key are one row for FINAL: the last value of each column", async () => {
      await engine().command(
        sql`CREATE TABLE folded (id UInt32, first SimpleAggregateFunction(anyLast, Nullable(String)),
              second SimpleAggregateFunction(anyLast, Nullable(String)))
            ENGINE = AggregatingMergeTree ORDER BY id`,
        options,
      );
      const rows = Array.from({ length: 500 }, (_, n) => ({ id: n % 100, first: `f${n}` }));
      await engine().insert("folded", [...rows, { id: 7, second: "s" }, { id: 7, first: "last" }], options);
      const stored = await engine().rows(sql`SELECT * FROM folded FINAL ORDER BY id`, options);
      expect(stored).toEqual(
        Array.from({ length: 100 }, (_, id) =>
          id === 7 ? { id, first: "last", second: "s" } : { id, first: `f${id + 400}`, second: null },
        ),
      );
    });
    it("an empty insert does nothing", async () => {
      await engine().insert("no_such_table", [], options);
    });
  });
}

function describeFailures(engine: () => Engine): void {
  const failure = async (query: ReturnType<typeof sql>, limits: "interactive" | "heavy" = "heavy") => {
    const error = await engine()
      .bytes(query, "RowBinary", { name: "failing", limits })
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
    expect(error).toBeInstanceOf(StorageError);
    return error as StorageError;
  };

  describe("failures", () => {
    it("a query that runs out of time is a timeout", async () => {
      const slow = sql`SELECT sum(sleepEachRow(0.05)) FROM numbers(200) SETTINGS max_block_size = 1, max_threads = 1`;
      expect(await failure(slow, "interactive")).toMatchObject({ kind: "timeout", engineCode: "159" });
    });
    it('a query that runs out of memory has kind "memory"', async () => {
      const wide = sql`SELECT groupArray(toString(number)) FROM numbers(50000000)`;
      expect(await failure(wide, "interactive")).toMatchObject({ kind: "memory", engineCode: "241" });
    });
    it('invalid SQL and unknown tables have kind "statement"', async () => {
      expect(await failure(sql`SELEC 1`)).toMatchObject({ kind: "statement", engineCode: "62" });
      expect(await failure(sql`SELECT * FROM no_such_table`)).toMatchObject({
        kind: "statement",
        engineCode: "60",
      });
    });
    it("a query that fails during a large result is an error, never a truncated result", async () => {
      for (const format of ["RowBinary", "JSONEachRow"] as const) {
        const query = sql`SELECT number, throwIf(number = 2000000) AS t FROM numbers(4000000) SETTINGS max_threads = 1, max_block_size = 65536`;
        const response = engine().bytes(query, format, options);
        await expect(response).rejects.toMatchObject({ kind: "statement", engineCode: "395" });
      }
    });
    it("the error's message contains nothing of the statement or its values", async () => {
      const error = await failure(sql`SELECT throwIf(1, ${param("String", "my secret")})`);
      expect(`${JSON.stringify(error)} ${error.message} ${error.stack}`).not.toContain("secret");
      expect(error.detail).toContain("my secret");
    });
    it("keeps working after all of that", async () => {
      expect(await engine().rows(sql`SELECT 1 AS n`, options)).toEqual([{ n: 1 }]);
    });
  });
}

/** How many statements the suite aborts while they run. */
export const ABORTED_STATEMENTS = 5;

function describeConcurrency(engine: () => Engine): void {
  const slow = (seconds: number) =>
    sql`SELECT sum(sleepEachRow(0.05)) AS s FROM numbers(${trusted(String(seconds * 20))}) SETTINGS max_block_size = 1, max_threads = 1`;

  describe("concurrency and cancellation", () => {
    it("200 concurrent statements keep their parameters separate", async () => {
      const responses = await Promise.all(
        Array.from({ length: 200 }, (_, n) =>
          engine().rows<{ a: string; b: number }>(
            sql`SELECT ${param("String", `tenant-${n}`)} AS a, ${param("UInt32", n)} AS b`,
            options,
          ),
        ),
      );
      responses.forEach((rows, n) => expect(rows).toEqual([{ a: `tenant-${n}`, b: n }]));
    });
    it("a short statement does not wait for long ones", async () => {
      const controller = new AbortController();
      let over = 0;
      const long = Array.from({ length: 4 }, () =>
        engine()
          .rows(slow(15), { name: "long", limits: "heavy", signal: controller.signal })
          .finally(() => over++),
      );
      await engine().rows(sql`SELECT ${param("String", "x")} AS v`, { name: "short" });
      expect(over).toBe(0);
      controller.abort();
      for (const one of await Promise.allSettled(long)) expect(one).toMatchObject({ status: "rejected" });
    });
    it("an aborted query rejects at once, and the engine stops", async () => {
      const controller = new AbortController();
      const running = () =>
        engine().rows(
          sql`SELECT count() AS n FROM system.processes WHERE Settings['log_comment'] LIKE 'to_abort%'`,
          options,
        );
      // longer than the condition below is awaited
      const aborted = engine().rows(slow(110), {
        name: "to_abort",
        limits: "heavy",
        signal: controller.signal,
      });
      const materialized = expect(aborted).rejects.toMatchObject({ kind: "aborted" });
      await expect.poll(running).toEqual([{ n: 1 }]);
      controller.abort();
      await materialized;
      await expect.poll(running).toEqual([{ n: 0 }]);
    });
    it("an aborted signal starts nothing", async () => {
      const signal = AbortSignal.abort();
      await expect(engine().rows(sql`SELECT 1`, { ...options, signal })).rejects.toMatchObject({
        kind: "aborted",
      });
    });
  });
}
