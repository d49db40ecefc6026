import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bills, type Bill } from "../models/published-bills.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
const project_id = "acme/bills";
const DEFAULT_AT = "2026-11-01T00:00:00Z";
const numbered = bills.map((bill, number) => ({ ...bill, id: `bill-${number}` }));

beforeAll(async () => {
  test = await startApp();
  const batch = numbered.map(({ id, llm, usage, output, at = DEFAULT_AT }) => ({
    project_id,
    id,
    trace_id: id,
    op_name: "ask",
    started_at: at,
    ended_at: at,
    inputs: {},
    attributes: {},
    output: output ?? null,
    summary: { usage: { [llm]: usage } },
  }));
  const stored = await test.post(`/v2/${project_id}/calls/complete`, { batch });
  expect(stored.json(), stored.text).toEqual({ rejected: [] });
});
afterAll(() => test.close());

/** Picodollars of a decimal number of dollars. */
function picodollars(usd: string): bigint {
  const [whole = "0", fraction = ""] = usd.split(".");
  return BigInt(whole) * 10n ** 12n + BigInt(fraction.padEnd(12, "0"));
}

function sumOf(bill: Bill["bill"]): bigint {
  return bill.reduce((sum, [quantity, perMillion]) => {
    return sum + BigInt(quantity) * (picodollars(perMillion) / 1_000_000n);
  }, 0n);
}

const exactly = (usd: number): bigint => BigInt(Math.round(usd * 1e12));

describe("bills worked out by hand from published prices", () => {
  it("are fifty, of ten providers", () => {
    expect(bills.length).toBeGreaterThanOrEqual(50);
    expect(new Set(bills.map(({ provider }) => provider)).size).toBe(10);
  });

  it.each(numbered)("$provider $llm costs $usd, to the picodollar ($id)", async ({ id, llm, bill, usd }) => {
    expect(sumOf(bill)).toBe(picodollars(usd));
    const { lines, total, unpriced } = (await test.post("/call/receipt", { project_id, call_id: id })).json();
    expect(unpriced).toEqual([]);
    expect(exactly(total.total_cost)).toBe(picodollars(usd));
    const amounts = lines.map((line: { amount_usd: number }) => exactly(line.amount_usd));
    expect(amounts.reduce((sum: bigint, amount: bigint) => sum + amount, 0n)).toBe(picodollars(usd));
    const usage = await test.post("/trace/usage", {
      project_id,
      filter: { trace_ids: [id] },
      include_costs: true,
    });
    const entry = usage.json().call_usage[id][llm] as Record<string, number>;
    const tokens = Object.entries(entry).filter(([name]) => name.endsWith("_cost"));
    const sum = tokens.reduce((all, [, cost]) => all + exactly(cost), 0n);
    expect(sum + exactly(total.other_cost)).toBe(picodollars(usd));
  });
});
