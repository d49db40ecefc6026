import { randomUUID } from "node:crypto";
import type { Engine } from "../../store/engine.ts";
import { TableCache } from "../../store/table-cache.ts";
import { param, sql } from "../../query/sql.ts";
import { toStoreText, toStoreTextMs } from "../../shared/instant.ts";
import type { Project } from "../../shared/project.ts";
import type { ProjectPrice } from "./project-prices.ts";

/** Key that set it, and time. */
interface Origin {
  readonly createdBy: string;
  readonly createdAtMs: number;
}

/** A price in a project's request. */
export type NewPrice = Omit<ProjectPrice, "id" | "createdAtMs">;

export interface PriceStore {
  /** Sets prices; returns their ids in the same order, once they are durable. */
  add(project: Project, prices: readonly NewPrice[], origin: Origin): Promise<readonly string[]>;
  /** All prices of a project. */
  all(project: Project): Promise<readonly ProjectPrice[]>;
  /** Deletes prices permanently. An id that the project does not have is not an error: it may already be deleted. */
  purge(project: Project, ids: readonly string[]): Promise<void>;
}

/** Prices of all projects together. */
const MAX_REMEMBERED = 30_000;

export function createPriceStore(engine: Engine): PriceStore {
  const memory = new TableCache<readonly ProjectPrice[]>(
    engine,
    "llm_prices",
    MAX_REMEMBERED,
    ({ length }) => length + 1,
  );
  return {
    async add(project, prices, origin) {
      // after those that are stored, whatever the clocks of other services said
      const createdAtMs = (await this.all(project)).reduce(
        (at, one) => Math.max(at, one.createdAtMs + 1),
        origin.createdAtMs,
      );
      const rows = prices.map(({ effectiveAtUs, ...price }) => ({
        project_id: project,
        id: randomUUID() as string,
        ...price,
        effective_date: toStoreText(effectiveAtUs),
        created_by: origin.createdBy,
        created_at: toStoreTextMs(createdAtMs),
        purged: 0,
      }));
      await engine.insert("llm_prices", rows, { name: "price_add" });
      return rows.map((row) => row.id);
    },
    all(project) {
      return memory.read(project, () =>
        engine.rows<ProjectPrice>(
          sql`SELECT id, llm_id, provider_id,
                toUnixTimestamp64Micro(effective_date) AS effectiveAtUs,
                toUnixTimestamp64Milli(created_at) AS createdAtMs,
                prompt_token_cost, completion_token_cost,
                cache_read_input_token_cost, cache_creation_input_token_cost, service_tier, unit_costs
              FROM llm_prices FINAL
              WHERE project_id = ${param("String", project)} AND purged = 0`,
          { name: "price_all" },
        ),
      );
    },
    async purge(project, ids) {
      const rows = ids.map((id) => ({ project_id: project, id, purged: 1 }));
      await engine.insert("llm_prices", rows, { name: "price_purge" });
    },
  };
}
