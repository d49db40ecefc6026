import type { Engine } from "../clickhouse/engine.ts";
import { TableMemory, type TableState } from "../clickhouse/table-memory.ts";
import { aroundHours, notedIn, type HourRange, type Place, type TimeRange } from "../query/index.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import { pairKey } from "../shared/pair-key.ts";
import { release } from "../shared/buffers.ts";
import type { Project } from "../shared/project.ts";

/** More than this are looked up by the statement that reads the calls. */
const MAX_PLACES = 1000;
/** About as many bytes. */
const OF_ANY = 500;
const MAX_OF_HOURS = 4_000_000;
const MAX_OF_TRACES = 16_000_000;

/** What to read: the calls of some traces, at one moment. */
export interface ReadAround {
  readonly project: Project;
  readonly range: TimeRange;
  /** Reads calls; `around` is true for all calls of the traces that have calls under the window's hours. */
  readonly read: (around: Sql) => Promise<Buffer>;
  readonly signal: AbortSignal;
}

/**
 * Remembers under which hours the calls of a window lie, and which of their traces lie under others too, so that the
 * statement which reads them does not look that up: a quarter of what it costs.
 */
export interface WindowPlaces {
  /** Undefined where that cannot be remembered, or was noted anew while the calls were read: then nothing is known. */
  readAround(asked: ReadAround): Promise<Buffer | undefined>;
}

/**
 * Calls are noted before they are stored, and hours in which a trace lies besides others all in `spanning_traces`. So, if
 * nobody has noted anything in it since, nor in `call_hours`, what was looked up holds for all calls that are stored. Only
 * a store with one writing process can tell.
 */
export function createWindowPlaces(engine: Engine): WindowPlaces {
  const ofCalls = new TableMemory(engine, "call_hours", MAX_OF_HOURS, bytesOfHours);
  const ofTraces = new TableMemory(engine, "spanning_traces", MAX_OF_TRACES, bytesOfPlaces);

  const hoursOf = (
    { project, signal }: ReadAround,
    kind: "started" | "ended",
    range: HourRange,
  ): Promise<readonly number[]> =>
    ofCalls.read(pairKey(project, `${kind} ${range.from} ${range.to}`), async () => {
      const rows = await engine.rows<{ hour: number }>(
        sql`SELECT DISTINCT hour FROM call_hours WHERE ${notedIn(project, kind, range)}
            ORDER BY hour LIMIT ${param("UInt32", MAX_PLACES + 1)}`,
        { name: "usage_hours", limits: "heavy", signal },
      );
      return rows.map(({ hour }) => hour);
    });

  const placesElsewhere = (
    { project, signal }: ReadAround,
    hours: readonly number[],
  ): Promise<readonly Place[]> => {
    const some = param("Array(Int64)", hours);
    return ofTraces.read(pairKey(project, hours.join()), () =>
      engine.rows<Place>(
        sql`SELECT DISTINCT hour, trace_id AS traceId FROM trace_hours
            WHERE project_id = ${param("String", project)} AND hour NOT IN ${some} AND trace_id IN
              (SELECT trace_id FROM spanning_traces WHERE project_id = ${param("String", project)} AND hour IN ${some})
            ORDER BY hour, trace_id LIMIT ${param("UInt32", MAX_PLACES + 1)}`,
        { name: "usage_spanning", limits: "heavy", signal },
      ),
    );
  };

  /** Undefined: too many. */
  const lookUp = async (asked: ReadAround): Promise<Found | undefined> => {
    const { started, ended } = asked.range;
    const lists = await Promise.all([
      ...(started === undefined ? [] : [hoursOf(asked, "started", started)]),
      ...(ended === undefined ? [] : [hoursOf(asked, "ended", ended)]),
    ]);
    const [first, ...others] = lists;
    if (first === undefined || lists.some((hours) => hours.length > MAX_PLACES)) return undefined;
    const hours = first.filter((hour) => others.every((list) => list.includes(hour)));
    const elsewhere = hours.length === 0 ? [] : await placesElsewhere(asked, hours);
    return elsewhere.length > MAX_PLACES ? undefined : { hours, elsewhere };
  };

  const states = (): readonly TableState[] => [ofCalls.begin(), ofTraces.begin()];
  const areSame = (some: readonly TableState[], others: readonly TableState[]): boolean =>
    some.every((state, at) => state !== undefined && state === others[at]);
  let before: readonly TableState[] = [];

  return {
    async readAround(asked) {
      const began = states();
      // what changes between two questions would be looked up in vain
      const isQuiet = areSame(began, before);
      before = began;
      const places = isQuiet ? await lookUp(asked) : undefined;
      if (places === undefined) return undefined;
      const bytes = await asked.read(aroundHours(places.hours, places.elsewhere));
      if (areSame(began, states())) return bytes;
      release(bytes);
      return undefined;
    },
  };
}

function bytesOfHours(hours: readonly number[]): number {
  return OF_ANY + 8 * hours.length;
}

function bytesOfPlaces(places: readonly Place[]): number {
  return places.reduce((bytes, { traceId }) => bytes + 100 + 2 * traceId.length, OF_ANY);
}

interface Found {
  readonly hours: readonly number[];
  readonly elsewhere: readonly Place[];
}
