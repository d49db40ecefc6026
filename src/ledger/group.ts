/**
 * Some traces of a project that are settled together: those whose first and last call lie under these hours, both of them and
 * whatever lies between; or, where the two are the same, those that lie under this hour alone.
 */
export interface Group {
  readonly first: number;
  readonly last: number;
}

/** Traces that are longer are always folded live. */
export const MAX_HOURS = 48;

export function ofHour(hour: number): Group {
  return { first: hour, last: hour };
}

export function isOfHour({ first, last }: Group): boolean {
  return first === last;
}

export function groupKey({ first, last }: Group): string {
  return `${first}-${last}`;
}

/** The hours that a group's calls can lie under. */
export function hoursOf({ first, last }: Group): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, place) => first + place);
}
