/**
 * Some traces of a project that are settled together: those whose first and last call lie under these hours, both of them and
 * whatever lies between; or, where the two are the same, those that lie under this hour alone.
 */
export interface HourSpan {
  readonly first: number;
  readonly last: number;
}

/** Traces that are longer are always folded live. */
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

/** The hours that a group's calls can lie under. */
export function hoursIn({ first, last }: HourSpan): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, place) => first + place);
}
