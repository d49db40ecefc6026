import { join, param, sql, trusted, type Sql } from "../../query/sql.ts";
import { OF_ROOT, recordsByTrace, type TraceRecords } from "../../usage-rollup/records-by-trace.ts";
import type { TracesPlan } from "../plan/plan-traces.ts";
import type { Facet } from "./plan-facets.ts";

export interface FacetsRequest {
  readonly facets: readonly Facet[];
  /** Values to return besides the most frequent ones, by facet. */
  readonly known: readonly (readonly string[])[];
  /** Most values of a facet. */
  readonly limit: number;
  /** JSON text of the LLM or provider of a price key; '' for none. */
  readonly modelText: (source: "llm" | "provider", key: TraceRecords["prices"]["keys"][number]) => string;
}

/** Group key of a facet per trace, and SQL of the values that the key stands for, over the name of its column. */
interface GroupKey {
  /** Column to add to `recordsByTrace`. */
  readonly column?: Sql;
  readonly join?: Sql;
  readonly key: Sql;
  readonly valuesOf: (key: Sql) => Sql;
}

const number = (value: number): Sql => trusted(String(value));

/**
 * Counts the selected traces by the values of facets: rows of `facet`, `value`, `traces`, costs, `records` and `all_values`. The
 * facet one past the last counts the records of all traces, selected or not.
 */
export function facetsStatement(
  records: TraceRecords,
  { project, place }: TracesPlan,
  { facets, known, limit, modelText }: FacetsRequest,
): Sql {
  const keys = facets.map((facet, index) =>
    groupKeyOf(facet, number(index), { prices: records.prices, project, place, modelText }),
  );
  const columns = [...new Set(keys.flatMap(({ column }) => column ?? []))];
  const all = number(facets.length);
  const each = (of: (name: Sql, place: Sql, index: number) => Sql): Sql =>
    join(
      facets.map((_, index) => of(sql`facet_${number(index)}`, number(index), index)),
      ", ",
    );
  const isKnown = known.map(
    (values, place) => sql`(facet = ${number(place)} AND value IN ${param("Array(String)", values)})`,
  );
  return sql`SELECT *, toUInt32(count() OVER (PARTITION BY facet)) AS all_values FROM (
      SELECT facet, value, toUInt32(sum(group_traces)) AS traces, toString(sum(group_records)) AS records,
        toString(sum(group_cost)) AS amount, max(any_priced) AS priced, max(any_unpriced) AS unpriced
      FROM (
        SELECT *, multiIf(${each((name, place, index) => sql`facet = ${place}, ${keys[index]!.valuesOf(name)}`)}, ['']) AS list FROM (
          SELECT ${each((name) => name)}, is_selected,
            toUInt8(multiIf(${each((name, place) => sql`grouping(${name}) = 0, ${place}`)}, ${all})) AS facet,
            count() AS group_traces, sum(records) AS group_records, sum(cost) AS group_cost,
            max(priced > 0) AS any_priced, max(unpriced > 0) AS any_unpriced
          FROM (SELECT records, cost, priced, unpriced, is_selected, ${each((name, _, index) => sql`${keys[index]!.key} AS ${name}`)}
            FROM (${recordsByTrace(records, { ofTraces: columns })}) AS by_trace ${join(
              keys.flatMap((key) => key.join ?? []),
              " ",
            )})
          GROUP BY GROUPING SETS (${each((name) => sql`(is_selected, ${name})`)}, (is_selected)))
        WHERE is_selected OR facet = ${all})
      ARRAY JOIN if(empty(list), [''], list) AS value GROUP BY facet, value)
    ORDER BY facet, (${join(isKnown, " OR ")}) DESC, traces DESC, value
    LIMIT ${param("UInt32", limit + Math.max(...known.map(({ length }) => length)))} BY facet
    SETTINGS force_grouping_standard_compatibility = 1`;
}

type KeySources = Pick<TraceRecords, "prices"> &
  Pick<TracesPlan, "project" | "place"> &
  Pick<FacetsRequest, "modelText">;
const MODELS_COLUMN = sql`groupUniqArrayIf(key_index, is_used) AS key_indexes`;

function groupKeyOf(
  { ofRecords, valuesIn }: Facet,
  index: Sql,
  { prices, project, place, modelText }: KeySources,
): GroupKey {
  if (ofRecords === undefined) {
    const name = sql`looked_up_${index}`;
    return {
      join: sql`LEFT JOIN ${valuesIn!(project, place)} AS ${name} USING trace_id`,
      key: sql`${name}.values`,
      valuesOf: (key) => key,
    };
  }
  if ("column" in ofRecords) {
    const name = sql`text_${index}`;
    return {
      column: sql`anyIf(${ofRecords.column}, ${OF_ROOT}) AS ${name}`,
      key: name,
      valuesOf: (key) => sql`[if(${key} = '', '', toJSONString(${key}))]`,
    };
  }
  const { models } = ofRecords;
  const names = param(
    "Array(String)",
    prices.keys.map((key) => modelText(models, key)),
  );
  return {
    column: MODELS_COLUMN,
    key: sql`key_indexes`,
    valuesOf: (key) => sql`arrayDistinct(arrayMap(index -> arrayElement(${names}, index), ${key}))`,
  };
}
