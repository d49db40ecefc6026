import type { Engine } from "../../store/engine.ts";
import { param, sql } from "../../query/sql.ts";
import type { Project } from "../../shared/project.ts";
import type { CostFactor } from "./cost-factors.ts";
import { datedRows, purgedRows, type Origin } from "./dated-rows.ts";

/** A factor in a project's request. */
export interface NewFactor extends Omit<CostFactor, "id" | "createdAtMs"> {
  readonly note: string;
}

/** A factor in a response. */
export interface StoredFactor extends CostFactor {
  readonly note: string;
  readonly createdBy: string;
}

export interface FactorStore {
  /** Sets factors; returns their ids in the same order, once they are durable. */
  add(project: Project, factors: readonly NewFactor[], origin: Origin): Promise<readonly string[]>;
  /** All factors of a project. */
  all(project: Project): Promise<readonly StoredFactor[]>;
  /** Deletes factors permanently. An id that the project does not have is not an error: it may already be deleted. */
  purge(project: Project, ids: readonly string[]): Promise<void>;
}

export function createFactorStore(engine: Engine): FactorStore {
  return {
    async add(project, factors, origin) {
      const rows = datedRows(project, factors, { origin, stored: await this.all(project) });
      await engine.insert("cost_factors", rows, { name: "factor_add" });
      return rows.map((row) => row.id);
    },
    all(project) {
      return engine.rows<StoredFactor>(
        sql`SELECT id, provider, factor, note, created_by AS createdBy,
              toUnixTimestamp64Micro(effective_date) AS effectiveAtUs,
              toUnixTimestamp64Milli(created_at) AS createdAtMs
            FROM cost_factors FINAL
            WHERE project_id = ${param("String", project)} AND purged = 0
            ORDER BY created_at, id`,
        { name: "factor_all" },
      );
    },
    async purge(project, ids) {
      await engine.insert("cost_factors", purgedRows(project, ids), { name: "factor_purge" });
    },
  };
}
