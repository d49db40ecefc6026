import { compileQuery } from "../../query/compile.ts";
import { priceFields as queryFields } from "../../query/fields/fields.ts";
import { join, param, sql, trusted, type Sql } from "../../query/sql.ts";
import type { Project } from "../../shared/project.ts";
import { priceFields, type PriceField, type PriceQuery } from "./schema.ts";

/** Columns that a response does not print unchanged. */
const printed: Partial<Record<PriceField, string>> = {
  effective_date:
    "concat(replaceOne(replaceRegexpOne(toString(effective_date), '(\\.\\d{3})000$', '\\\\1'), ' ', 'T'), 'Z')",
  created_at: "concat(replaceOne(toString(created_at), ' ', 'T'), 'Z')",
};

const noLimit = 2 ** 32 - 1;

/** The prices of a project that a request selects, one row each, with the requested fields. Errors: validation of the query. */
export function planPriceList(project: Project, request: PriceQuery): Sql {
  const fields = new Set(request.fields ?? priceFields);
  const columns = [...fields].map((field) => trusted(`${printed[field] ?? field} AS ${field}`));
  const order = (request.sort_by ?? []).map(({ field, direction }) => trusted(`price.${field} ${direction}`));
  const byAge = [trusted("price.created_at"), trusted("price.id")];
  return sql`SELECT ${join(columns, ", ")}
    FROM (
      SELECT *, 'USD' AS prompt_token_cost_unit, 'USD' AS completion_token_cost_unit
      FROM llm_prices FINAL
      WHERE project_id = ${param("String", project)} AND purged = 0 AND ${conditionOf(project, request)}
    ) AS price
    ORDER BY ${join([...order, ...byAge], ", ")}
    LIMIT ${param("UInt32", request.limit ?? noLimit)} OFFSET ${param("UInt32", request.offset ?? 0)}`;
}

function conditionOf(project: Project, { query }: PriceQuery): Sql {
  return query == null ? sql`1` : compileQuery(query, { project, fields: queryFields }).condition;
}
