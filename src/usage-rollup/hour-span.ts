/**
 * Traces that are materialized together: those whose first and last call are stored under these hour buckets. If the two are
 * equal: traces stored under that hour only.
 */
export interface HourSpan {
  readonly first: number;
  readonly last: number;
}

/** Longer traces are always aggregated at query time. */
export const MAX_SPAN_HOURS = 48;

export function singleHour(hour: number): HourSpan {
  return { first: hour, last: hour };
}

export function isSingleHour({ first, last }: HourSpan): boolean {
  return first === last;
}

export function spanKey({ first, last }: HourSpan): string {
  return `${first}-${last}`;
}

/** Lists the hours from `first` to `last`. */
export function hoursIn({ first, last }: HourSpan): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
