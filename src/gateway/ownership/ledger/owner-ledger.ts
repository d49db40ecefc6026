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
  /**
   * Gives an id without owner to a project. Resolves when that is durable, with the owner: the project, or another one that
   * came first. Errors: `StorageError`; the caller may retry.
   */
  claim(id: string, project: Project): Promise<string>;
  drain(): Promise<void>;
}

interface Claim {
  readonly id: string;
  readonly project: Project;
  owner: string;
}

const TABLE = "training_owners";
const IDS_PER_QUERY = 2000;
const MAX_CACHED = 20_000;
const CLAIM_BYTES = 512;
const MAX_BATCH_BYTES = 1024 * 1024;
/** Cached for an id without owner. */
const NOBODY = "";

export function createOwnerLedger(engine: Engine, settings: GroupCommitSettings): OwnerLedger {
  const cache = new TableCache<string>(engine, TABLE, MAX_CACHED);
  const find = async (ids: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    const began = cache.begin();
    const known = new Map([...new Set(ids)].map((id) => [id, cache.get(id)]));
    const unknown = [...known.keys()].filter((id) => known.get(id) === undefined);
    for (const chunk of chunksOf(unknown, IDS_PER_QUERY)) {
      const rows = await engine.rows<{ id: string; owner: string }>(
        sql`SELECT id, project_id AS owner FROM training_owners FINAL WHERE id IN ${param("Array(String)", chunk)}`,
        // a replica that lacks a row would hide a job from its project, or give it to another one
        { name: "training_owners_find", limits: "ingest", requireCurrent: true },
      );
      for (const id of chunk) known.set(id, NOBODY);
      for (const { id, owner } of rows) known.set(id, owner);
    }
    const found = [...known].map(([id, owner = NOBODY]) => [id, owner] as const);
    cache.put(began, 0, found);
    return new Map(found.filter(([, owner]) => owner !== NOBODY));
  };
  /** Batches run one after another, so the claims of this process never race. */
  const flush = async (claims: readonly Claim[]): Promise<void> => {
    const began = cache.begin();
    const ids = claims.map(({ id }) => id);
    const owners = new Map(await find(ids));
    const rows: { readonly id: string; readonly project_id: Project }[] = [];
    for (const { id, project } of claims) {
      if (owners.has(id)) continue;
      owners.set(id, project);
      rows.push({ id, project_id: project });
    }
    await engine.insert(TABLE, rows, { name: "training_owners_add" });
    const inserts = rows.length > 0 ? 1 : 0;
    cache.put(began, inserts, owners);
    // another service may have been earlier
    const stored = cache.isUnchanged(began, inserts) ? owners : await find(ids);
    for (const claim of claims) claim.owner = stored.get(claim.id) ?? claim.owner;
  };
  const commit = createGroupCommit<Claim>({
    name: "training_owners_write",
    flush,
    sizeOf: () => CLAIM_BYTES,
    ...settings,
    maxBatchBytes: MAX_BATCH_BYTES,
  });
  return {
    find,
    async claim(id, project) {
      const claim: Claim = { id, project, owner: project };
      await commit.write([claim]);
      return claim.owner;
    },
    drain: () => commit.drain(),
  };
}
