import { LRUCache } from "lru-cache";
import type { Engine } from "../../store/engine.ts";
import { TableCache } from "../../store/table-cache.ts";
import { param, sql } from "../../query/sql.ts";
import { chunksOf } from "../../shared/chunks-of.ts";
import { pairKey } from "../../shared/pair-key.ts";
import type { Project } from "../../shared/project.ts";
import { readDeletionMark } from "./deletion-mark.ts";

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

/** Storage keys by `keyText`. */
type StorageKeys = ReadonlyMap<string, StorageKey>;

/** Lookup of storage keys: first in a cache of recent starts, then in the store. */
export interface StorageKeyLookup {
  remember(key: CallKey, storageKey: StorageKey): void;
  /** Finds the cached ones. Reads whether a project was deleted since, which empties the cache. */
  recall(keys: readonly CallKey[]): Promise<StorageKeys>;
  /** Finds those of known calls. `fresh` bypasses the cache. */
  find(keys: readonly CallKey[], options?: { fresh: boolean }): Promise<StorageKeys>;
}

const RECENT_STARTS = 100_000;
const IDS_PER_QUERY = 2000;

export function keyText(key: CallKey): string {
  return pairKey(key.project, key.id);
}

export function createStorageKeyLookup(engine: Engine): StorageKeyLookup {
  const recent = new LRUCache<string, StorageKey>({ max: RECENT_STARTS });
  const marks = new TableCache<string>(engine, "deletions", 1);
  let mark: string | undefined;

  const recall = async (keys: readonly CallKey[]): Promise<StorageKeys> => {
    const found = new Map<string, StorageKey>();
    for (const key of keys) {
      const text = keyText(key);
      const storageKey = recent.get(text);
      if (storageKey !== undefined) found.set(text, storageKey);
    }
    if (found.size === 0) return found;
    const current = await marks.read("", () => readDeletionMark(engine));
    if (current === mark) return found;
    recent.clear();
    mark = current;
    return new Map();
  };

  return {
    remember: (key, storageKey) => recent.set(keyText(key), storageKey),
    recall,
    async find(keys, { fresh } = { fresh: false }) {
      const found = new Map(fresh ? [] : await recall(keys));
      const unknown = keys.filter((key) => !found.has(keyText(key)));
      for (const { project_id: project, id, trace_id: traceId, hour } of await readCallKeys(
        engine,
        unknown,
      )) {
        const text = keyText({ project, id });
        const other = found.get(text);
        if (other === undefined || traceId < other.traceId) found.set(text, { traceId, hour });
      }
      return found;
    },
  };
}

/** Row of `calls`. */
export interface CallRow {
  readonly project_id: Project;
  readonly trace_id: string;
  readonly id: string;
  readonly hour: number;
}

/**
 * Indexes the storage keys of starting calls by id in `call_keys`, before the calls are written: every stored call is
 * indexed, but an indexed call may not be stored. Requires `IndexTraceHours` for their traces.
 */
export function indexCallKeys(engine: Engine, starts: readonly CallRow[]): Promise<void> {
  return engine.insert(
    "call_keys",
    starts.map(({ project_id, id, trace_id, hour }) => ({ project_id, id, trace_id, hour })),
    { name: "call_keys_add" },
  );
}

/** Reads the first hour of calls in each trace. Also returns those of other projects with the same ids. */
export async function readCallKeys(engine: Engine, keys: readonly CallKey[]): Promise<readonly CallRow[]> {
  const found: CallRow[] = [];
  for (const chunk of chunksOf(keys, IDS_PER_QUERY)) {
    const projects = param("Array(String)", [...new Set(chunk.map((key) => key.project))]);
    const ids = param(
      "Array(String)",
      chunk.map((key) => key.id),
    );
    const rows = await engine.rows<CallRow>(
      sql`SELECT project_id, id, trace_id, min(call_keys.hour) AS hour FROM call_keys
          WHERE project_id IN ${projects} AND id IN ${ids} GROUP BY project_id, id, trace_id`,
      { name: "call_keys_find", limits: "ingest", synced: "call_keys" },
    );
    found.push(...rows);
  }
  return found;
}
