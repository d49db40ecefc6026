import type { Rates } from "./rates.ts";

/** The rates in force at an instant. Instants are µs since the epoch. */
export interface InForce {
  /** Null if no token price is known. */
  readonly rates: Rates | null;
  /** The instant they took effect; null: unknown. */
  readonly sinceUs: number | null;
  /** The same rates are in force until this later instant, or longer; infinite if they never change. */
  readonly untilUs: number;
}

/** A model's prices over time: answers what is in force at an instant. */
export type Schedule<Prices extends InForce = InForce> = (atUs: number) => Prices;

export interface Period<Prices extends InForce> {
  readonly fromUs: number;
  readonly schedule: Schedule<Prices>;
}

/** Makes a schedule that never changes. */
export function constant(rates: Rates | null): Schedule {
  const always = { rates, sinceUs: null, untilUs: Infinity };
  return () => always;
}

/** Joins schedules: the first, then each of `later`, which ascend, from its instant on. */
export function inPeriods<Prices extends InForce>(
  first: Schedule<Prices>,
  later: readonly Period<Prices>[],
): Schedule<Prices> {
  if (later.length === 0) return first;
  return (atUs) => {
    const next = countUpTo(later, atUs);
    const period = later[next - 1];
    const own = (period?.schedule ?? first)(atUs);
    const sinceUs =
      period === undefined ? own.sinceUs : Math.max(own.sinceUs ?? period.fromUs, period.fromUs);
    return { ...own, sinceUs, untilUs: Math.min(own.untilUs, later[next]?.fromUs ?? Infinity) };
  };
}

/** The number of periods that have begun. */
function countUpTo(periods: readonly { readonly fromUs: number }[], atUs: number): number {
  let low = 0;
  let high = periods.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (periods[middle]!.fromUs <= atUs) low = middle + 1;
    else high = middle;
  }
  return low;
}
