import type { UsageStats, UsageTotal } from "../api/routes.ts";
import { toPicodollar } from "../format/usage.ts";

/** A group that costs more or less than before. */
export interface Change {
  readonly by: string;
  readonly name: string;
  readonly now: UsageTotal;
  readonly before: UsageTotal;
  readonly moreUsd: number;
}

/** The same groups in two windows; before: undefined if there is none. */
export type Compared = readonly [now: UsageStats, before: UsageStats | undefined];

const MAX_CHANGES = 6;
/** A cause is named once: less than this part of a change is no cause of its own. */
const OWN_PART = 0.5;

/**
 * The largest changes in both directions. Traces by user, operation and version together tell which of them are one
 * change; a model, known of calls alone, is named unless something else changed by nearly as much.
 */
export function findChanges(traces: Compared, models: Compared): readonly Change[] {
  const found: Change[] = [];
  const all = changesIn(traces, () => true);
  const isNamed = (key: Key): boolean => found.some(({ by, name }) => String(key[by]) === name);
  while (found.length < MAX_CHANGES) {
    const left = new Map(changesIn(traces, (key) => !isNamed(key)).map((one) => [idOf(one), one.moreUsd]));
    const ownOf = (one: Change): number => left.get(idOf(one)) ?? 0;
    const [next] = all
      .filter((one) => one.moreUsd !== 0 && ownOf(one) / one.moreUsd > OWN_PART)
      .toSorted((a, b) => Math.abs(ownOf(b)) - Math.abs(ownOf(a)));
    if (next === undefined) break;
    found.push(next);
  }
  const ofModels = changesIn(models, () => true).filter(
    ({ moreUsd }) =>
      moreUsd !== 0 && !found.some((one) => Math.abs(one.moreUsd / moreUsd - 1) < OWN_PART / 2),
  );
  return [...found, ...ofModels]
    .toSorted((a, b) => Math.abs(b.moreUsd) - Math.abs(a.moreUsd))
    .slice(0, MAX_CHANGES);
}

type Key = UsageStats["groups"][number]["key"];

function idOf({ by, name }: Change): string {
  return `${by}\n${name}`;
}

/** Changes by each of the fields, among some of the groups. */
function changesIn([now, before]: Compared, isAmong: (key: Key) => boolean): readonly Change[] {
  if (before === undefined) return [];
  const sums = new Map<string, Pick<Change, "by" | "name"> & Record<"now" | "before", UsageTotal[]>>();
  for (const [period, { groups }] of Object.entries({ now, before }))
    for (const { key, total } of groups.filter((group) => isAmong(group.key)))
      for (const [by, value] of Object.entries(key)) {
        if (value === null) continue;
        const id = `${by}\n${value}`;
        const sum = sums.get(id) ?? { by, name: String(value), now: [], before: [] };
        sum[period as "now"].push(total);
        sums.set(id, sum);
      }
  const isCut = now.other !== null || before.other !== null;
  const addUp = (totals: readonly UsageTotal[]) =>
    ({
      total_cost: toPicodollar(totals.reduce((sum, { total_cost: usd }) => sum + (usd ?? 0), 0)),
      partial: isCut || totals.some(({ partial }) => partial),
    }) as UsageTotal;
  return [...sums.values()].map((sum) => {
    const [of, then] = [addUp(sum.now), addUp(sum.before)];
    return { ...sum, now: of, before: then, moreUsd: toPicodollar(of.total_cost! - then.total_cost!) };
  });
}
