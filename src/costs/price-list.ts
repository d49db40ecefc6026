import { join, param, sql, trusted, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import { MAX_PRICES, priceFields, type PriceField, type PriceQuery } from "./schema.ts";

/** How a field is written in an answer, over the table's columns. */
const printed = {
  id: "id",
  llm_id: "llm_id",
  provider_id: "provider_id",
  effective_date: "concat(replaceOne(toString(effective_date), ' ', 'T'), 'Z')",
  prompt_token_cost: "prompt_token_cost",
  completion_token_cost: "completion_token_cost",
  cache_read_input_token_cost: "cache_read_input_token_cost",
  cache_creation_input_token_cost: "cache_creation_input_token_cost",
  prompt_token_cost_unit: "'USD'",
  completion_token_cost_unit: "'USD'",
  created_by: "created_by",
  created_at: "concat(replaceOne(toString(created_at), ' ', 'T'), 'Z')",
} satisfies Record<PriceField, string>;

/** The prices of a project that a request asks for, one row each, with the fields it names. */
export function planPriceList(project: Project, request: PriceQuery): Sql {
  const fields = new Set(request.fields ?? priceFields);
  const columns = [...fields].map((field) => trusted(`${printed[field]} AS ${field}`));
  const order = (request.sort_by ?? []).map(({ field, direction }) => trusted(`price.${field} ${direction}`));
  const byAge = [trusted("price.created_at"), trusted("price.id")];
  return sql`SELECT ${join(columns, ", ")}
    FROM (
      SELECT *, 'USD' AS prompt_token_cost_unit, 'USD' AS completion_token_cost_unit
      FROM llm_prices FINAL
      WHERE project_id = ${param("String", project)} AND purged = 0
    ) AS price
    ORDER BY ${join([...order, ...byAge], ", ")}
    LIMIT ${param("UInt32", request.limit ?? MAX_PRICES)} OFFSET ${param("UInt32", request.offset ?? 0)}`;
}
