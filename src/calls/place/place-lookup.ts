import { LRUCache } from "lru-cache";
import type { Engine } from "../../store/engine.ts";
import { TableMemory } from "../../store/table-memory.ts";
import { param, sql } from "../../query/sql.ts";
import { chunksOf } from "../../shared/chunks-of.ts";
import { pairKey } from "../../shared/pair-key.ts";
import type { Project } from "../../shared/project.ts";
import { FenceMemory } from "./fence-memory.ts";
import { readFences } from "./project-fences.ts";

export interface CallKey {
  readonly project: Project;
  readonly id: string;
}

/** Where a call is stored: together with project and id, its key in `calls`. */
export interface CallPlace {
  readonly traceId: string;
  /** Hours since the epoch. */
  readonly hour: number;
}

/** Finds where calls are stored: first in a cache of recent starts, then in the store. */
export interface PlaceLookup {
  remember(key: CallKey, place: CallPlace): void;
  /** Looks only in the cache. */
  recall(key: CallKey): CallPlace | undefined;
  /** The known places, by `keyText`. `fresh` reads all of them from the store. */
  find(keys: readonly CallKey[], options?: { fresh: boolean }): Promise<ReadonlyMap<string, CallPlace>>;
  /** The project's fence as last read. The cache keeps each entry with the fence of that moment. */
  fenceOf(project: Project): string | undefined;
  /** Reads the current fences. Cache entries with another fence are no longer used. */
  readFences(projects: readonly Project[]): Promise<ReadonlyMap<Project, string>>;
}

const RECENT_STARTS = 100_000;
const IDS_PER_QUERY = 2000;

export function keyText(key: CallKey): string {
  return pairKey(key.project, key.id);
}

export function createPlaceLookup(engine: Engine): PlaceLookup {
  const recent = new LRUCache<string, Remembered>({ max: RECENT_STARTS });
  const fences = new FenceMemory(RECENT_STARTS);
  // '' for none
  const current = new TableMemory<string>(engine, "project_generations", RECENT_STARTS);

  const recall = (key: CallKey): CallPlace | undefined => {
    const entry = recent.get(keyText(key));
    return entry === undefined || entry.fence !== fences.fenceOf(key.project) ? undefined : entry.place;
  };

  return {
    remember: (key, place) => recent.set(keyText(key), { place, fence: fences.fenceOf(key.project) }),
    recall,
    async find(keys, { fresh } = { fresh: false }) {
      const found = new Map<string, CallPlace>();
      const unknown: CallKey[] = [];
      for (const key of keys) {
        const place = fresh ? undefined : recall(key);
        if (place === undefined) unknown.push(key);
        else found.set(keyText(key), place);
      }
      for (const chunk of chunksOf(unknown, IDS_PER_QUERY)) {
        for (const row of await readTraces(engine, chunk)) {
          const { project_id: project, id, trace_id: traceId, hour } = row;
          found.set(keyText({ project, id }), { traceId, hour });
        }
      }
      return found;
    },
    fenceOf: (project) => fences.fenceOf(project),
    async readFences(projects) {
      const began = current.begin();
      const known = projects.map((project) => [project, current.get(project)] as const);
      if (known.every(([, fence]) => fence !== undefined)) {
        return new Map(known.filter((one): one is [Project, string] => one[1] !== ""));
      }
      const turn = fences.begin();
      const read = await readFences(engine, projects);
      fences.learn(turn, read);
      current.learn(
        began,
        0,
        projects.map((project) => [project, read.get(project) ?? ""]),
      );
      return read;
    },
  };
}

interface Remembered {
  readonly place: CallPlace;
  readonly fence: string | undefined;
}

interface TraceRow {
  readonly project_id: Project;
  readonly id: string;
  readonly trace_id: string;
  readonly hour: number;
}

/** May return other calls as well if two projects share an id; callers look up by key. */
function readTraces(engine: Engine, keys: readonly CallKey[]): Promise<TraceRow[]> {
  return engine.rows<TraceRow>(
    sql`SELECT project_id, id, min(call_keys.trace_id) AS trace_id,
          argMin(call_keys.hour, (call_keys.trace_id, call_keys.hour)) AS hour
        FROM call_keys
        WHERE project_id IN ${param("Array(String)", [...new Set(keys.map((key) => key.project))])}
          AND id IN ${param(
            "Array(String)",
            keys.map((key) => key.id),
          )}
        GROUP BY project_id, id`,
    { name: "call_keys_find", limits: "ingest", mustBeCurrent: true },
  );
}
