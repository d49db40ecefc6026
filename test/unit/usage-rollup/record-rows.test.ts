import fc from "fast-check";
import { expect, it } from "vitest";
import { recordRows, type RecordRow } from "../../../src/usage-rollup/record-rows.ts";
import { EMPTY_RECORD, NO_LATENCY, type UsageRecord } from "../../../src/usage-rollup/usage-record.ts";

const QUARTER_US = 900_000_000;
const quantity = fc.oneof(fc.nat(1000), fc.constant(2 ** 52));
const records = fc.array(
  fc.record({
    trace_id: fc.constantFrom("t", 't ["gpt",', ""),
    price_key: fc.constantFrom("", '["gpt","","",1,0]', '["gpt","","",1,0,"images"]'),
    input_tier: fc.nat(1),
    is_wasted: fc.nat(1),
    started_at_us: fc.integer({ min: -2 * QUARTER_US, max: 2 * QUARTER_US }),
    errors: fc.nat(1),
    total_tokens: quantity,
    unit: quantity,
  }),
  { maxLength: 30 },
);

type Flat = UsageRecord & { readonly kind: number };
const flat = (rows: readonly RecordRow[]): readonly Flat[] =>
  rows.map(({ kind, record }) => ({ kind, ...record }));

function recordOf({ unit, ...one }: { readonly unit: number } & Partial<UsageRecord>): UsageRecord {
  const units = one.price_key!.endsWith('"images"]') ? [unit] : [];
  return { ...EMPTY_RECORD, ...one, units, records: 1, calls: 1, unfinished: 1 - one.errors!, latency_ms: 5 };
}

it("adds up each record once, under what it is priced by", () => {
  const place = (row: Flat): string =>
    JSON.stringify([
      row.trace_id,
      row.price_key,
      row.input_tier,
      row.is_wasted,
      Math.floor(row.started_at_us / QUARTER_US),
    ]);
  const totals = (rows: readonly Flat[]): unknown =>
    [...Map.groupBy(rows, place)]
      .map(([key, some]) => {
        const sum = (of: (row: Flat) => number) => some.reduce((total, row) => total + BigInt(of(row)), 0n);
        return [
          key,
          ...[
            (row: Flat) => row.records,
            (row: Flat) => row.calls,
            (row: Flat) => row.errors,
            (row: Flat) => row.unfinished,
            (row: Flat) => row.total_tokens,
            (row: Flat) => row.units[0] ?? 0,
          ].map(sum),
        ].join(" ");
      })
      .sort();
  fc.assert(
    fc.property(records, (drawn) => {
      const rows = flat(recordRows(drawn.map(recordOf)));
      const ofKind = (...kinds: number[]) => rows.filter(({ kind }) => kinds.includes(kind));
      expect(ofKind(1, 3)).toHaveLength(drawn.length);
      expect(totals(ofKind(2, 3))).toEqual(totals(ofKind(1, 3)));
      for (const row of rows) expect([row.total_tokens, ...row.units].every(Number.isSafeInteger)).toBe(true);
    }),
  );
});

it("keeps fields, start and latency of a root, which may have several records", () => {
  const of = (more: Partial<UsageRecord>): UsageRecord => ({
    ...EMPTY_RECORD,
    trace_id: "t",
    records: 1,
    latency_ms: NO_LATENCY,
    ...more,
  });
  const root = { is_first: 1, is_root: 1, started_at_us: 7, op_name: "root" };
  const rows = flat(
    recordRows([
      of({ calls: 1, started_at_us: 3, op_name: "child", latency_ms: 4 }),
      of(root),
      of({ ...root, calls: 1, latency_ms: 9 }),
    ]),
  );
  expect(rows.filter(({ kind }) => kind === 2)).toEqual([
    { ...of(root), kind: 2, records: 3, calls: 2, latency_ms: 9 },
  ]);
});
