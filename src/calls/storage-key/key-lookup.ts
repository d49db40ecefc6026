import { LRUCache } from "lru-cache";
import type { Engine } from "../../store/engine.ts";
import { TableCache } from "../../store/table-cache.ts";
import { param, sql } from "../../query/sql.ts";
import { chunksOf } from "../../shared/chunks-of.ts";
import { pairKey } from "../../shared/pair-key.ts";
import type { Project } from "../../shared/project.ts";
import { GenerationCache } from "./generation-cache.ts";
import { readGenerations } from "./project-generations.ts";

export interface CallKey {
  readonly project: Project;
  readonly id: string;
}

/** Storage key of a call: with project and id, its sorting key in `calls`. */
export interface StorageKey {
  readonly traceId: string;
  /** Hours since the epoch. */
  readonly hour: number;
}

/** Lookup of storage keys: first in a cache of recent starts, then in the store. */
export interface StorageKeyLookup {
  remember(key: CallKey, storageKey: StorageKey): void;
  /** Reads only the cache. */
  recall(key: CallKey): StorageKey | undefined;
  /** Finds the storage keys of known calls, by `keyText`. `fresh` bypasses the cache. */
  find(keys: readonly CallKey[], options?: { fresh: boolean }): Promise<ReadonlyMap<string, StorageKey>>;
  /** Returns the project's generation as last read. */
  generationOf(project: Project): string | undefined;
  /** Reads current generations; invalidates cache entries of other generations. */
  readGenerations(projects: readonly Project[]): Promise<ReadonlyMap<Project, string>>;
}

const RECENT_STARTS = 100_000;
const IDS_PER_QUERY = 2000;

export function keyText(key: CallKey): string {
  return pairKey(key.project, key.id);
}

export function createStorageKeyLookup(engine: Engine): StorageKeyLookup {
  const recent = new LRUCache<string, CachedKey>({ max: RECENT_STARTS });
  const generations = new GenerationCache(RECENT_STARTS);
  // '' if the project has no generation
  const current = new TableCache<string>(engine, "project_generations", RECENT_STARTS);

  const recall = (key: CallKey): StorageKey | undefined => {
    const entry = recent.get(keyText(key));
    return entry === undefined || entry.generation !== generations.generationOf(key.project)
      ? undefined
      : entry.key;
  };

  return {
    remember: (key, storageKey) =>
      recent.set(keyText(key), { key: storageKey, generation: generations.generationOf(key.project) }),
    recall,
    async find(keys, { fresh } = { fresh: false }) {
      const found = new Map<string, StorageKey>();
      const unknown: CallKey[] = [];
      for (const key of keys) {
        const storageKey = fresh ? undefined : recall(key);
        if (storageKey === undefined) unknown.push(key);
        else found.set(keyText(key), storageKey);
      }
      for (const chunk of chunksOf(unknown, IDS_PER_QUERY)) {
        for (const row of await readTraces(engine, chunk)) {
          const { project_id: project, id, trace_id: traceId, hour } = row;
          found.set(keyText({ project, id }), { traceId, hour });
        }
      }
      return found;
    },
    generationOf: (project) => generations.generationOf(project),
    async readGenerations(projects) {
      const began = current.begin();
      const known = projects.map((project) => [project, current.get(project)] as const);
      if (known.every(([, generation]) => generation !== undefined)) {
        return new Map(known.filter((one): one is [Project, string] => one[1] !== ""));
      }
      const sequence = generations.begin();
      const read = await readGenerations(engine, projects);
      generations.put(sequence, read);
      current.put(
        began,
        0,
        projects.map((project) => [project, read.get(project) ?? ""]),
      );
      return read;
    },
  };
}

interface CachedKey {
  readonly key: StorageKey;
  readonly generation: string | undefined;
}

interface TraceRow {
  readonly project_id: Project;
  readonly id: string;
  readonly trace_id: string;
  readonly hour: number;
}

/** May also return calls of other projects with the same ids; callers look up by key. */
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
    { name: "call_keys_find", limits: "ingest" },
  );
}
