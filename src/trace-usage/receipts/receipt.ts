import { COST_SLOTS, costFields } from "../../prices/cost-fields.ts";
import { isCacheOutside } from "../../prices/cost-of-call.ts";
import { PER_USD } from "../../prices/picodollars.ts";
import type { PriceBook } from "../../prices/price-book.ts";
import { ownUsages, usagesOf } from "../fold/own-usage.ts";
import { rollUp } from "../fold/rollup.ts";
import { idOf, NONE, reporterOf, type CallTable } from "../table/call-table.ts";
import type { LlmDictionary } from "../table/llm-dictionary.ts";
import { countFields, countMembers } from "../../usage/count-fields.ts";
import { statedUsdOf } from "../../usage/stated-cost.ts";
import { addUnits, lessUnits, pricedUnitsOf, type UnitCounts } from "../../usage/units.ts";
import type { Usage } from "../../usage/usage.ts";
import { amountOf, lineItemsOf, type Contribution, type LineItem } from "./line-items.ts";
import type { Receipt } from "./schema.ts";
import { USAGE_BASES } from "../../calls/events/usage-basis.ts";
import type { CallOfTrace } from "./read-trace.ts";
import { subtreeOf, type Subtree } from "./subtree.ts";
import { isoOf } from "../../shared/instant.ts";

export interface Sources {
  readonly traceId: string;
  /** Calls of the whole trace. */
  readonly calls: CallTable;
  readonly names: LlmDictionary;
  readonly book: PriceBook;
  /** Provider's completion id of the call, '' for none. */
  readonly completionId: string;
  /** From the call's attributes, so possibly written by a client. */
  readonly usageBasis: string;
  readonly supersededBy: CallOfTrace | undefined;
}

/** Number of the call in its subtree. */
const ITSELF = 0;

/** Builds the receipt of a call from the calls of its trace. */
export function receiptOf(call: number, sources: Sources): Receipt {
  const { calls, names, book } = sources;
  const subtree = subtreeOf(call, calls);
  // each completion once, and the remainder of inclusive calls
  const contributions = ownUsages({ calls: subtree.calls, names }, () => true)
    .flatMap(([by, usages]) => usages.map((usage) => ({ call: by, usage })))
    .toArray();
  const own = contributions.filter(({ call: by }) => by === ITSELF);
  const below = contributions.filter(({ call: by }) => by !== ITSELF);
  const { startedAtUs } = subtree.calls;
  const rules = { book, startedAtUs };
  const lines = [...lineItemsOf(own, "own", rules), ...lineItemsOf(below, "below", rules)];
  return {
    call_id: idOf(calls, call),
    trace_id: sources.traceId,
    started_at: isoOf(startedAtUs[ITSELF]!),
    usage: reportedUsages(own, subtree, names),
    usage_basis: USAGE_BASES.find((basis) => basis === sources.usageBasis) ?? null,
    completion: sources.completionId === "" ? null : completionOf(call, sources),
    superseded_by:
      sources.supersededBy === undefined
        ? null
        : { call_id: sources.supersededBy.id, trace_id: sources.supersededBy.traceId },
    lines: lines.map(lineMembers),
    unpriced: unpricedOf(lines),
    total: totalOf(subtree, sources),
  };
}

function lineMembers(line: LineItem): Receipt["lines"][number] {
  const { rate, ...members } = line;
  return { ...members, rate_usd: usd(rate), amount_usd: usd(amountOf(line)) };
}

function usd(picodollars: number | null): number | null {
  return picodollars === null ? null : picodollars / PER_USD;
}

/** Lists the usage that the call reports: its own, and the share counted with its descendants. */
function reportedUsages(
  own: readonly Contribution[],
  { calls }: Subtree,
  names: LlmDictionary,
): Receipt["usage"] {
  return usagesOf(ITSELF, calls.usage, { calls, names }).map((reported) => {
    const kept = own.find(({ usage }) => usage.llm === reported.llm)?.usage ?? nothingOf(reported);
    const counted = countFields.map(({ name }) => [name, reported[name] - kept[name]]);
    const elsewhere: Usage = {
      ...reported,
      ...Object.fromEntries(counted),
      units: lessUnits(reported.units, kept.units),
    };
    return {
      llm: reported.llm,
      provider: reported.service?.provider || null,
      service_tier: reported.service?.tier || null,
      cache_convention: isCacheOutside(reported)
        ? "cached tokens are beside the prompt"
        : "cached tokens are part of the prompt",
      reported: used(reported),
      counted_below: used(elsewhere),
      own: used(kept),
    };
  });
}

function nothingOf(usage: Usage): Usage {
  return { ...usage, ...Object.fromEntries(countFields.map(({ name }) => [name, 0])), units: undefined };
}

function used(usage: Usage) {
  return {
    ...countMembers(usage),
    units: pricedUnitsOf(usage.units) ?? {},
    stated_cost: statedUsdOf(usage.units),
  };
}

function completionOf(
  call: number,
  { calls, names, completionId: id, supersededBy }: Sources,
): Receipt["completion"] {
  const shared = calls.completionOf?.[call] ?? NONE;
  const reports = shared === NONE ? [call] : callsOf(shared, calls);
  const isReport = new Set(reports);
  const winner = ownUsages({ calls, names }, (one) => isReport.has(one)).find(([, used]) => used.length > 0);
  return {
    id,
    usage_source: reporterOf(calls, call),
    call_ids: reports.map((one) => idOf(calls, one)).toSorted(),
    counted_call_id: supersededBy?.id ?? idOf(calls, winner?.[0] ?? call),
  };
}

function callsOf(completion: number, { completionOf, count }: CallTable): readonly number[] {
  return Array.from({ length: count }, (_, call) => call).filter(
    (call) => completionOf![call] === completion,
  );
}

function unpricedOf(lines: readonly LineItem[]): Receipt["unpriced"] {
  return lines
    .filter(({ rate }) => rate === null)
    .map(({ of, llm, provider, tier, unit, quantity }) => ({ of, llm, provider, tier, unit, quantity }));
}

/** Computes the call's totals of `/trace/usage` over all LLMs, including units that are not tokens. */
function totalOf({ calls }: Subtree, { names, book }: Sources): Receipt["total"] {
  const { totals } = rollUp(calls, names, (usage, atUs) => book.cost(usage.llm, atUs, usage));
  const sums: (number | null)[] = costFields.map(() => null);
  let units: UnitCounts | undefined;
  for (let entry = totals.heads[ITSELF]!; entry !== NONE; entry = totals.next[entry]!) {
    units = addUnits(units, totals.units.get(entry));
    for (let slot = 0; slot < COST_SLOTS; slot++) {
      const cost = totals.costs[entry * COST_SLOTS + slot]!;
      if (!Number.isNaN(cost)) sums[slot] = (sums[slot] ?? 0) + cost;
    }
  }
  const isEmpty = totals.heads[ITSELF] === NONE;
  const members = costFields.map(({ wire }, slot) => [wire, usd(isEmpty ? 0 : sums[slot]!)] as const);
  const known = sums.filter((sum) => sum !== null);
  return {
    ...(Object.fromEntries(members) as Record<LineItem["cost"], number | null>),
    total_cost: isEmpty ? 0 : usd(known.length === 0 ? null : known.reduce((sum, cost) => sum + cost, 0)),
    stated_cost: statedUsdOf(units),
  };
}
