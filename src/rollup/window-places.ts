import { LRUCache } from "lru-cache";
import type { Engine } from "../store/engine.ts";
import type { TableState } from "../store/table-memory.ts";
import { aroundHours, type Place, type TimeRange } from "../query/index.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import { pairKey } from "../shared/pair-key.ts";
import { release } from "../shared/buffers.ts";
import type { Project } from "../shared/project.ts";
import { CallHours } from "./call-hours.ts";

/** More than this are looked up by the statement that reads the calls. */
const MAX_PLACES = 1000;
/** About as many bytes. */
const OF_ANY = 500;
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
 * Calls are noted before they are stored, and a trace that comes to lie under another hour is noted in `spanning_traces` under
 * all of its hours. So, if nobody has noted anything there under the window's hours since, nor in `call_hours`, what was
 * looked up holds for all calls that are stored. Only a store with one writing process can tell.
 *
 * What changes between two questions is not looked up: it would be in vain.
 */
export function createWindowPlaces(engine: Engine): WindowPlaces {
  const callHours = new CallHours(engine);
  const ofTraces = new LRUCache<string, Remembered>({ maxSize: MAX_OF_TRACES, sizeCalculation: bytesOf });
  let before: TableState;

  /** Undefined: too many. */
  const hoursOf = async ({ project, range, signal }: ReadAround): Promise<readonly number[] | undefined> => {
    const lists = await Promise.all(
      (["started", "ended"] as const).flatMap((kind) => {
        const at = range[kind];
        if (at === undefined) return [];
        const noted = { kind, range: at, limit: MAX_PLACES + 1 };
        return [callHours.read(project, noted, { name: "usage_hours", signal })];
      }),
    );
    if (lists.some((hours) => hours.length > MAX_PLACES)) return undefined;
    return lists[0]?.filter((hour) => lists.every((hours) => hours.includes(hour)));
  };

  /** Of what is noted under some hours. */
  const stateOf = (project_id: Project, hours: readonly number[]): string | undefined => {
    const counts = hours.map((hour) => engine.changesOf("spanning_traces", { project_id, hour }));
    return counts.includes(undefined) ? undefined : counts.join();
  };

  const readPlaces = (
    { project, signal }: ReadAround,
    hours: readonly number[],
  ): Promise<readonly Place[]> => {
    const some = param("Array(Int64)", hours);
    return engine.rows<Place>(
      sql`SELECT DISTINCT hour, trace_id AS traceId FROM trace_hours
          WHERE project_id = ${param("String", project)} AND hour NOT IN ${some} AND trace_id IN
            (SELECT trace_id FROM spanning_traces WHERE project_id = ${param("String", project)} AND hour IN ${some})
          ORDER BY hour, trace_id LIMIT ${param("UInt32", MAX_PLACES + 1)}`,
      { name: "usage_spanning", limits: "heavy", signal },
    );
  };

  const placesElsewhere = async (
    asked: ReadAround,
    hours: readonly number[],
    state: string,
  ): Promise<readonly Place[] | undefined> => {
    const key = pairKey(asked.project, hours.join());
    const known = ofTraces.get(key);
    if (known?.state !== state) {
      ofTraces.set(key, { state, places: undefined });
      return undefined;
    }
    const places = known.places ?? (await readPlaces(asked, hours));
    if (stateOf(asked.project, hours) === state) ofTraces.set(key, { state, places });
    return places.length > MAX_PLACES ? undefined : places;
  };

  return {
    async readAround(asked) {
      const began = callHours.memory.begin();
      const isQuiet = began !== undefined && began === before;
      before = began;
      const hours = isQuiet ? await hoursOf(asked) : undefined;
      const state = hours && stateOf(asked.project, hours);
      if (hours === undefined || state === undefined) return undefined;
      const elsewhere = await placesElsewhere(asked, hours, state);
      if (elsewhere === undefined) return undefined;
      const bytes = await asked.read(aroundHours(hours, elsewhere));
      if (callHours.memory.holds(began, 0) && stateOf(asked.project, hours) === state) return bytes;
      release(bytes);
      return undefined;
    },
  };
}

/** What was looked up of the spanning traces of some hours; undefined: a question has come by. */
interface Remembered {
  readonly state: string;
  readonly places: readonly Place[] | undefined;
}

function bytesOf({ state, places = [] }: Remembered): number {
  return places.reduce((bytes, { traceId }) => bytes + 100 + 2 * traceId.length, OF_ANY + state.length);
}
