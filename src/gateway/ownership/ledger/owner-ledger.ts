import { param, sql } from "../../../query/sql.ts";
import { chunksOf } from "../../../shared/chunks-of.ts";
import type { Project } from "../../../shared/project.ts";
import type { Engine } from "../../../store/engine.ts";
import { createGroupCommit, type GroupCommitSettings } from "../../../store/group-commit.ts";
import { TableCache } from "../../../store/table-cache.ts";

/** Ledger of the projects that own training resources, by `canonicalId`. */
export interface OwnerLedger {
  /** Returns the owner of each known id. Errors: `StorageError`. */
  find(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Returns what `claim` was told of a model; empty if nothing. Errors: `StorageError`. */
  modelOf(id: string): Promise<string>;
  /**
   * Gives an id without owner to a project. Resolves when that is durable, with the owner: the project, or another one that
   * came first. Errors: `StorageError`; the caller may retry. `model`: what is known of a model.
   */
  claim(id: string, project: Project, model: string): Promise<string>;
  drain(): Promise<void>;
}

interface Claim {
  readonly id: string;
  readonly project: Project;
  readonly model: string;
}

const TABLE = "training_owners";
const IDS_PER_QUERY = 2000;
/** Cached for an id without owner. */
const NOBODY = "";

export function createOwnerLedger(engine: Engine, settings: GroupCommitSettings): OwnerLedger {
  const cache = new TableCache<string>(engine, TABLE, 20_000);
  const find = async (ids: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    const began = cache.begin();
    const owners = new Map([...new Set(ids)].map((id) => [id, cache.get(id)]));
    const unknown = [...owners.keys()].filter((id) => owners.get(id) === undefined);
    for (const chunk of chunksOf(unknown, IDS_PER_QUERY)) {
      const rows = await engine.rows<{ id: string; owner: string }>(
        sql`SELECT id, project_id AS owner FROM training_owners FINAL WHERE id IN ${param("Array(String)", chunk)}`,
        // a replica that lacks a row would hide a job from its project, or give it to another one
        { name: "training_owners_find", limits: "ingest" },
      );
      for (const { id, owner } of rows) owners.set(id, owner);
    }
    const found = [...owners].map(([id, owner = NOBODY]) => [id, owner] as const);
    cache.put(began, 0, found);
    return new Map(found.filter(([, owner]) => owner !== NOBODY));
  };
  /** Batches run one after another, so the claims of this process never race. */
  const flush = async (claims: readonly Claim[]): Promise<void> => {
    const began = cache.begin();
    const known = await find(claims.map(({ id }) => id));
    const unknown = claims.filter(({ id }) => !known.has(id));
    const added = new Map(unknown.map(({ id, project }) => [id, project]));
    const models = new Map(unknown.map(({ id, model }) => [id, model]));
    const rows = [...added].map(([id, project_id]) => ({ id, project_id, model: models.get(id) }));
    await engine.insert(TABLE, rows, { name: "training_owners_add" });
    cache.put(began, rows.length > 0 ? 1 : 0, added);
  };
  const commit = createGroupCommit<Claim>({
    name: "training_owners_write",
    flush,
    sizeOf: ({ model }) => 512 + model.length,
    ...settings,
    maxBatchBytes: 1024 * 1024,
  });
  return {
    find,
    async modelOf(id) {
      const [row] = await engine.rows<{ model: string }>(
        sql`SELECT model FROM training_owners FINAL WHERE id = ${param("String", id)}`,
        { name: "training_owners_model", limits: "ingest", dependsOn: [TABLE] },
      );
      return row?.model ?? "";
    },
    async claim(id, project, model) {
      await commit.write([{ id, project, model }]);
      // another service may have been earlier
      return (await find([id])).get(id) ?? project;
    },
    drain: () => commit.drain(),
  };
}
