import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";
import { param, sql } from "../../query/sql.ts";
import type { Project } from "../../shared/project.ts";
import type { Engine } from "../../store/engine.ts";
import {
  indexCallKeys,
  keyText,
  type CallRow,
  type StorageKey,
  type StorageKeyLookup,
} from "./key-lookup.ts";

/** Call found by an alternative name. */
export interface NamedCall {
  readonly id: string;
  readonly hasEnded: boolean;
  /** JSON text. */
  readonly attributes: string;
}

/** Alternative name of a call. */
export interface CallName {
  readonly project: Project;
  readonly name: string;
}

/** Index of alternative names, stored in `call_keys`, so that every replica finds them. Throws `StorageError`. */
export interface NamedCalls {
  /** Indexes a name; resolves when it is durable. Names of one turn of the event loop share an insert. */
  note(name: CallName, storageKey: StorageKey): Promise<void>;
  /** Finds the project's call with this name and completion id. */
  find(name: CallName, completionId: string): Promise<NamedCall | undefined>;
  /** Finds the first indexed name of any of the projects. Waits a little for other writers of the store. */
  firstIndexed(projects: readonly Project[], names: readonly string[]): Promise<CallName | undefined>;
}

const TRIES = 8;
const WAIT_MS = 150;

export function createNamedCalls(engine: Engine, lookup: StorageKeyLookup): NamedCalls {
  let rows: CallRow[] = [];
  let written: Promise<void> | undefined;
  const writeNext = async (): Promise<void> => {
    await nextTurn();
    const own = rows;
    rows = [];
    written = undefined;
    await indexCallKeys(engine, own);
  };
  return {
    note({ project, name }, { traceId, hour }) {
      rows.push({ project_id: project, id: name, trace_id: traceId, hour });
      written ??= writeNext();
      return written;
    },
    async find({ project, name }, completionId) {
      const key = { project, id: name };
      const storageKey = (await lookup.find([key])).get(keyText(key));
      if (storageKey === undefined) return undefined;
      const [call] = await engine.rows<{ id: string; ended: number; attributes: string | null }>(
        sql`SELECT id, isNotNull(ended_at) AS ended, attributes FROM calls FINAL
            WHERE project_id = ${param("String", project)} AND hour = ${param("Int64", storageKey.hour)}
              AND trace_id = ${param("String", storageKey.traceId)} AND completion_id = ${param("String", completionId)}`,
        { name: "calls_by_name", limits: "ingest" },
      );
      return call && { id: call.id, hasEnded: call.ended === 1, attributes: call.attributes ?? "{}" };
    },
    async firstIndexed(projects, names) {
      const keys = projects.flatMap((project) => names.map((id) => ({ project, id })));
      for (let tries = engine.writeCountOf("call_keys") === undefined ? TRIES : 1; ; tries--) {
        const found = await lookup.find(keys);
        const key = keys.find((one) => found.has(keyText(one)));
        if (key !== undefined) return { project: key.project, name: key.id };
        if (tries === 1) return undefined;
        await delay(WAIT_MS);
      }
    },
  };
}
