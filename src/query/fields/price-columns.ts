import type { Column, ValueType } from "./columns.ts";
import { sql, type Sql } from "../sql.ts";

function column(type: ValueType, expression: Sql): Column {
  return { type, sql: expression, payload: false };
}

/** The fields of a price in the table `llm_prices`. */
export const priceColumns: ReadonlyMap<string, Column> = new Map(
  Object.entries({
    id: column("text", sql`id`),
    llm_id: column("text", sql`llm_id`),
    provider_id: column("text", sql`provider_id`),
    effective_date: column("instant", sql`toDateTime64(effective_date, 6, 'UTC')`),
    prompt_token_cost: column("number", sql`prompt_token_cost`),
    completion_token_cost: column("number", sql`completion_token_cost`),
    cache_read_input_token_cost: column("number", sql`cache_read_input_token_cost`),
    cache_creation_input_token_cost: column("number", sql`cache_creation_input_token_cost`),
    service_tier: column("text", sql`service_tier`),
    prompt_token_cost_unit: column("text", sql`'USD'`),
    completion_token_cost_unit: column("text", sql`'USD'`),
    created_by: column("text", sql`created_by`),
    created_at: column("instant", sql`toDateTime64(created_at, 6, 'UTC')`),
  }),
);
