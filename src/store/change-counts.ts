/** The rows of a project under an hour, in hours since the epoch. */
export interface HourOfProject {
  readonly project_id: string;
  readonly hour: number;
}

/** Hours of a table that are counted by themselves. */
const MAX_HOURS = 20_000;

/** The changes of tables that this process has begun: what was read of a table, or of an hour of it, holds as long as its count. */
export class ChangeCounts {
  readonly #ofTable = new Map<string, TableChanges>();
  readonly #ofAny = noChanges();
  readonly #maxHours: number;

  constructor(maxHours = MAX_HOURS) {
    this.#maxHours = maxHours;
  }

  /** Undefined while a change is running. */
  of(table: string, hour?: HourOfProject): number | undefined {
    const own = this.#ofTable.get(table);
    if (own === undefined) return sumOf(this.#ofAny);
    if (hour === undefined) return sumOf(this.#ofAny, own.all);
    return sumOf(this.#ofAny, own.anywhere, own.ofHour.get(textOf(hour)));
  }

  /** Counts a change of a table, undefined for any of them, that may fail at any point. `rows`: all that it adds. */
  async during<Result>(
    table: string | undefined,
    change: () => Promise<Result>,
    rows?: readonly object[],
  ): Promise<Result> {
    const counted = table === undefined ? [this.#ofAny] : this.#changesOf(table, hoursOf(rows));
    for (const changes of counted) changes.begun++;
    for (const changes of counted) changes.running++;
    try {
      return await change();
    } finally {
      for (const changes of counted) changes.running--;
    }
  }

  #changesOf(table: string, hours: ReadonlySet<string> | undefined): readonly Changes[] {
    const known = this.#ofTable.get(table) ?? { all: noChanges(), anywhere: noChanges(), ofHour: new Map() };
    this.#ofTable.set(table, known);
    if (hours === undefined) return [known.all, known.anywhere];
    if (known.ofHour.size + hours.size > this.#maxHours) forgetHours(known);
    const ofHours = [...hours].map((hour) => {
      const changes = known.ofHour.get(hour) ?? noChanges();
      known.ofHour.set(hour, changes);
      return changes;
    });
    return [known.all, ...ofHours];
  }
}

interface Changes {
  begun: number;
  running: number;
}

interface TableChanges {
  readonly all: Changes;
  /** Those whose hours are not known. */
  readonly anywhere: Changes;
  readonly ofHour: Map<string, Changes>;
}

function noChanges(): Changes {
  return { begun: 0, running: 0 };
}

function sumOf(...all: readonly (Changes | undefined)[]): number | undefined {
  if (all.some((changes) => changes !== undefined && changes.running > 0)) return undefined;
  return all.reduce((sum, changes) => sum + (changes?.begun ?? 0), 0);
}

/** The count of every hour becomes larger than any that it had. */
function forgetHours({ anywhere, ofHour }: TableChanges): void {
  anywhere.begun += 1 + [...ofHour.values()].reduce((most, { begun }) => Math.max(most, begun), 0);
  for (const [hour, { running }] of ofHour) if (running === 0) ofHour.delete(hour);
}

/** Undefined: some of the rows do not say it. */
function hoursOf(rows: readonly object[] | undefined): ReadonlySet<string> | undefined {
  if (rows === undefined) return undefined;
  const hours = new Set<string>();
  let last: HourOfProject | undefined;
  for (const row of rows) {
    if (!isOfHour(row)) return undefined;
    // rows next to each other are mostly of one hour
    if (row.hour !== last?.hour || row.project_id !== last.project_id) hours.add(textOf(row));
    last = row;
  }
  return hours;
}

function isOfHour(row: Partial<HourOfProject>): row is HourOfProject {
  return typeof row.hour === "number" && typeof row.project_id === "string";
}

function textOf({ project_id, hour }: HourOfProject): string {
  return `${hour} ${project_id}`;
}
