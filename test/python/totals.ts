import { expect } from "vitest";
import type { TestApp } from "../helpers/start-app.ts";
import { withCacheInPrompt } from "../helpers/served-usage.ts";
import type { Served } from "./played-provider.ts";

type Entry = Record<string, number | null>;
export type Totals = Record<string, Entry>;

/** Reads the usage and costs of all roots of a project, by LLM. */
export async function totalsOf(test: TestApp, project_id: string): Promise<Totals> {
  const response = await test.post("/trace/usage", {
    project_id,
    filter: { trace_roots_only: true },
    include_costs: true,
  });
  expect(response.status, response.text).toBe(200);
  const totals: Totals = {};
  for (const perLlm of Object.values(response.json().call_usage as Record<string, Totals>)) {
    for (const [llm, entry] of Object.entries(perLlm)) add((totals[llm] ??= {}), entry);
  }
  return Object.fromEntries(Object.entries(totals).sort(([left], [right]) => (left < right ? -1 : 1)));
}

function add(total: Entry, entry: Entry): void {
  for (const [name, value] of Object.entries(entry)) {
    const sum = (total[name] ?? 0) + (value ?? 0);
    total[name] = value === null ? null : Number(sum.toFixed(12));
  }
}

/** The same, of calls that nothing traced: each answer as it was served, in the provider's own words. */
export async function totalsByHand(
  test: TestApp,
  project: string,
  served: readonly Served[],
): Promise<Totals> {
  const at = new Date().toISOString();
  const batch = served.map(({ model, usage }, number) => ({
    id: `served-${number}`,
    trace_id: `served-${number}`,
    op_name: "ask",
    started_at: at,
    ended_at: at,
    inputs: {},
    attributes: {},
    output: null,
    summary: { usage: { [model]: { requests: 1, ...withCacheInPrompt(usage) } } },
  }));
  const stored = await test.post(`/v2/${project}/calls/complete`, { batch });
  expect(stored.json(), stored.text).toEqual({ rejected: [] });
  return totalsOf(test, project);
}
