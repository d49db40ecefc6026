import { csvLines, csvText } from "../../http/csv.ts";
import { isoOf } from "../../shared/instant.ts";
import { parseJsonText } from "../../shared/escaped-keys.ts";
import { rankGroups } from "./print-response.ts";
import type { StatsPlan } from "../plan/plan-stats.ts";
import { columnNames, type TotalsTable } from "./totals-table.ts";
import type { StatsFold } from "../sums/stats-fold.ts";

type Fields = readonly (string | number | null)[];

/**
 * Prints the response as CSV: a line for each group and bucket with calls, and one per bucket for the groups beyond `limit`
 * (`group` is `other`). Lines add up to the total. An empty chunk is a pause.
 */
export function* printCsv(fold: StatsFold, plan: StatsPlan): Generator<string> {
  const { shown, single, others } = yield* rankGroups(fold, plan);
  const labels = plan.dimensions.all.map(({ label }) => label);
  yield csvLines([["timestamp", "group", ...labels.map(csvText), ...columnNames(plan)]]);

  const keys = shown.map((group) => keyFields(fold.groups.keys[group]!, labels));
  for (const [bucket, startUs] of plan.buckets.startsUs.entries()) {
    const timestamp = isoOf(startUs);
    const lines: Fields[] = shown.flatMap((group, place) => {
      const aggregate = fold.find(group, bucket);
      return aggregate === undefined
        ? []
        : [[timestamp, place + 1, ...keys[place]!, ...fields(single, aggregate)]];
    });
    if (others.isUsed(bucket))
      lines.push([timestamp, "other", ...labels.map(() => null), ...fields(others, bucket)]);
    if (lines.length > 0) yield csvLines(lines);
  }
}

function fields(view: TotalsTable, row: number): Fields {
  return view.numbers(row).map((text) => (text === "null" ? null : text));
}

/** Reads the values of a group key as fields of CSV. */
export function keyFields(key: string, labels: readonly string[]): Fields {
  const values = parseJsonText(key) as Readonly<Record<string, unknown>>;
  return labels.map((label) => {
    const value = values[label] ?? null;
    return typeof value === "string" ? csvText(value) : value === null ? null : JSON.stringify(value);
  });
}
