import { isoOf } from "../../shared/instant.ts";
import { countFields } from "../../usage/count-fields.ts";
import { ROWS_PER_STEP, type Steps } from "../../shared/steps.ts";
import type { StatsPlan } from "../plan/plan-stats.ts";
import { TotalsTable } from "./totals-table.ts";
import type { StatsFold } from "../sums/stats-fold.ts";

const NOT_SHOWN = -1;

/** Groups of a response: those listed, the largest first, and the number of others. */
export interface Ranking {
  readonly shown: readonly number[];
  readonly rest: number;
  /** Sums the aggregates by the row that they have; -1 for none. */
  readonly sumBy: (rows: number, rowOf: (aggregate: number) => number) => Generator<string, TotalsTable>;
  /** Index of the group of an aggregate among those listed; -1 for others. */
  readonly placeOf: (aggregate: number) => number;
  /** Totals of each aggregate, and by bucket of the groups not listed. */
  readonly single: TotalsTable;
  readonly others: TotalsTable;
}

export function* rankGroups(fold: StatsFold, plan: StatsPlan): Generator<string, Ranking> {
  const { keys } = fold.groups;
  const sumBy: Ranking["sumBy"] = (rows, rowOf) => pauses(TotalsTable.of(fold, plan, { rows, rowOf }));
  const totals = yield* sumBy(keys.length, (aggregate) => fold.groupOf[aggregate]!);
  const compare = (a: number, b: number): number =>
    totals.compare(a, b, plan.order) || (keys[a]! < keys[b]! ? -1 : 1);
  const shown = yield* pauses(firstOf(keys.length, plan.maxGroups, compare));
  const places = new Int32Array(keys.length).fill(NOT_SHOWN);
  for (const [place, group] of shown.entries()) places[group] = place;
  const placeOf = (aggregate: number): number => places[fold.groupOf[aggregate]!]!;
  const others = yield* sumBy(plan.buckets.startsUs.length, (aggregate) =>
    placeOf(aggregate) === NOT_SHOWN ? fold.bucketOf[aggregate]! : NOT_SHOWN,
  );
  const single = yield* sumBy(fold.sums.length, (aggregate) => aggregate);
  return { shown, rest: keys.length - shown.length, sumBy, placeOf, single, others };
}

/** Prints the response in chunks, without objects, because there can be a million totals. An empty chunk is a pause. */
export function* printResponse(fold: StatsFold, plan: StatsPlan): Generator<string> {
  const { startsUs, sizeSeconds } = plan.buckets;
  const { shown, rest, sumBy, placeOf, single, others } = yield* rankGroups(fold, plan);
  const totals = yield* sumBy(shown.length, placeOf);
  yield (
    `{"start":"${isoOf(plan.window.startUs)}","end":"${isoOf(plan.window.endUs)}","granularity":${sizeSeconds}` +
      `,"timezone":${JSON.stringify(plan.timezone)},"groups":[`
  );
  for (const [place, group] of shown.entries())
    yield `${place === 0 ? "" : ","}{"key":${fold.groups.keys[group]},"total":${totals.text(place)}}`;

  const other = yield* sumBy(1, (aggregate) => (placeOf(aggregate) === NOT_SHOWN ? 0 : NOT_SHOWN));
  yield `],"other":${rest === 0 ? "null" : `{"groups":${rest},"total":${other.text(0)}}`}`;
  yield `,"total":${(yield* sumBy(1, () => 0)).text(0)},"buckets":[`;

  const buckets = yield* sumBy(startsUs.length, (aggregate) => fold.bucketOf[aggregate]!);
  for (const [bucket, startUs] of startsUs.entries()) {
    const texts = shown.map((group) => {
      const aggregate = fold.find(group, bucket);
      return aggregate === undefined ? "null" : single.text(aggregate);
    });
    yield (
      `${bucket === 0 ? "" : ","}{"timestamp":"${isoOf(startUs)}","total":${buckets.text(bucket)}` +
        `,"groups":[${texts.join(",")}],"other":${others.isUsed(bucket) ? others.text(bucket) : "null"}}`
    );
  }
  const left = fold.unpriced.list().map(({ llm, provider, tier, counts, units = {} }) => {
    const members = countFields.map(({ wire }, slot) => [wire, counts[slot]] as const);
    return JSON.stringify({ llm, provider, service_tier: tier, ...Object.fromEntries(members), units });
  });
  yield `],"unpriced":${plan.withCosts ? `[${left.join(",")}]` : "null"}}`;
}

/** Converts the pauses of steps to empty chunks. */
function* pauses<Result>(steps: Steps<Result>): Generator<string, Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    yield "";
  }
}

/** Returns the first `most` of the numbers below `count`, in order. Cost: O(count × log most), O(most) per insertion. */
function* firstOf(
  count: number,
  most: number,
  compare: (one: number, other: number) => number,
): Steps<readonly number[]> {
  const first: number[] = [];
  for (let one = 0; one < count; one++) {
    if (one % ROWS_PER_STEP === 0) yield;
    if (first.length === most && compare(first.at(-1)!, one) < 0) continue;
    let [low, high] = [0, first.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(first[middle]!, one) < 0) low = middle + 1;
      else high = middle;
    }
    first.splice(low, 0, one);
    if (first.length > most) first.pop();
  }
  return first;
}
