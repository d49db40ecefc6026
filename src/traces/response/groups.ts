import { parseJson } from "../../shared/json.ts";
import { COST_MEMBERS, COUNT_MEMBERS } from "../../stats/plan/members.ts";
import type { Sums } from "../../stats/sums/sums.ts";
import { compareUsd } from "../../stats/sums/usd.ts";
import { sumOf, totalText } from "./totals.ts";

/** Maximum number of groups listed. */
const MAX_GROUPS = 100;
const TOKENS = COUNT_MEMBERS.indexOf("total_tokens");
const COST = COST_MEMBERS.indexOf("total_cost");

/** Trace by its row in the sums, and its group value as JSON; '' for none. */
export interface Keyed {
  readonly row: number;
  readonly key: string;
}

/** Totals of traces by value as JSON: largest first, then the rest. */
export function groupsText(sums: Sums, traces: readonly Keyed[], withCosts: boolean): string {
  const groups = [...Map.groupBy(traces, ({ key }) => key)]
    .map(([key, some]) => ({ key, some, sum: sumOf(sums, rowsOf(some), withCosts) }))
    .sort((one, other) => compareSums(one.sum, other.sum, withCosts) || (one.key < other.key ? -1 : 1));
  const shown = groups
    .slice(0, MAX_GROUPS)
    .map(
      ({ key, some, sum }) =>
        `{"value":${JSON.stringify(valueOf(key))},"traces":${some.length},"total":${totalText(sum, 0, withCosts)}}`,
    );
  const rest = groups.slice(MAX_GROUPS);
  const others = rest.flatMap(({ some }) => some);
  const other =
    rest.length === 0
      ? "null"
      : `{"values":${rest.length},"traces":${others.length},"total":${totalText(sumOf(sums, rowsOf(others), withCosts), 0, withCosts)}}`;
  return `{"values":[${shown.join(",")}],"other":${other}}`;
}

function* rowsOf(traces: readonly Keyed[]): Generator<number> {
  for (const { row } of traces) yield row;
}

/** Compares groups: larger first, unknown last. */
function compareSums(one: Sums, other: Sums, withCosts: boolean): number {
  if (!withCosts) return other.countOf(0, TOKENS) - one.countOf(0, TOKENS);
  const [a, b] = [one.costOf(0, COST), other.costOf(0, COST)];
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return compareUsd(b, a);
}

/** Returns a scalar, or the JSON text of any other value. */
export function valueOf(json: string): string | number | boolean | null {
  if (json === "") return null;
  const value = parseJson(json);
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : json;
}
