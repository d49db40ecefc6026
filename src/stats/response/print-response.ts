import { isoOf } from "../../shared/instant.ts";
import { countFields } from "../../usage/count-fields.ts";
import type { Steps } from "../../shared/steps.ts";
import { firstOf } from "./first-of.ts";
import { pauses } from "./pauses.ts";
import type { StatsPlan } from "../plan/plan-stats.ts";
import { TotalsTable } from "./totals-table.ts";
import type { StatsFold } from "../sums/stats-fold.ts";

const NOT_SHOWN = -1;

/** Groups of a response: those listed, the largest first, and the number of others. */
export interface Ranking {
  readonly shown: readonly number[];
  readonly rest: number;
  /** Index of a group among those listed; -1 for others. */
  readonly placeOf: Int32Array;
}

export function* rankGroups(fold: StatsFold, plan: StatsPlan): Steps<Ranking> {
  const { groups } = fold;
  const count = groups.keys.length;
  const totals = yield* TotalsTable.of(fold, plan, {
    rows: count,
    rowOf: (aggregate) => fold.groupOf[aggregate]!,
  });
  const shown = yield* firstOf(
    count,
    plan.maxGroups,
    (a, b) => totals.compare(a, b, plan.order) || (groups.keys[a]! < groups.keys[b]! ? -1 : 1),
  );
  const placeOf = new Int32Array(count).fill(NOT_SHOWN);
  for (const [place, group] of shown.entries()) placeOf[group] = place;
  return { shown, rest: count - shown.length, placeOf };
}

/** Prints the response in chunks, without objects, because there can be a million totals. An empty chunk is a pause. */
export function* printResponse(fold: StatsFold, plan: StatsPlan): Generator<string> {
  const { groups, unpriced } = fold;
  const { startsUs, sizeSeconds } = plan.buckets;
  const ranking = yield* pauses(rankGroups(fold, plan));
  const { shown, rest, placeOf } = ranking;
  const placeOfAggregate = (aggregate: number): number => placeOf[fold.groupOf[aggregate]!]!;
  const isOther = (aggregate: number): boolean => placeOfAggregate(aggregate) === NOT_SHOWN;
  const view = (rows: number, rowOf: (aggregate: number) => number): Generator<string, TotalsTable> =>
    pauses(TotalsTable.of(fold, plan, { rows, rowOf }));

  const totals = yield* view(shown.length, placeOfAggregate);
  yield (
    `{"start":"${isoOf(plan.window.startUs)}","end":"${isoOf(plan.window.endUs)}","granularity":${sizeSeconds}` +
      `,"timezone":${JSON.stringify(plan.timezone)},"groups":[`
  );
  for (const [place, group] of shown.entries())
    yield `${place === 0 ? "" : ","}{"key":${groups.keys[group]},"total":${totals.text(place)}}`;

  const other = yield* view(1, (aggregate) => (isOther(aggregate) ? 0 : NOT_SHOWN));
  yield `],"other":${rest === 0 ? "null" : `{"groups":${rest},"total":${other.text(0)}}`}`;
  yield `,"total":${(yield* view(1, () => 0)).text(0)},"buckets":[`;

  const buckets = yield* view(startsUs.length, (aggregate) => fold.bucketOf[aggregate]!);
  const others = yield* view(startsUs.length, (aggregate) =>
    isOther(aggregate) ? fold.bucketOf[aggregate]! : NOT_SHOWN,
  );
  const single = yield* view(fold.sums.length, (aggregate) => aggregate);
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
  const left = unpriced.list().map(({ llm, provider, tier, counts, units = {} }) => {
    const members = countFields.map(({ wire }, slot) => [wire, counts[slot]] as const);
    return JSON.stringify({ llm, provider, service_tier: tier, ...Object.fromEntries(members), units });
  });
  yield `],"unpriced":${plan.withCosts ? `[${left.join(",")}]` : "null"}}`;
}
