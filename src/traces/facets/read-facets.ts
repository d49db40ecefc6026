import { join, param, sql, trusted, type Sql } from "../../query/sql.ts";
import { isoOf } from "../../shared/instant.ts";
import type { Engine } from "../../store/engine.ts";
import { valueOf } from "../response/groups.ts";
import { selectTraces, type TracesPlan } from "../plan/plan-traces.ts";
import type { Facet } from "./plan-facets.ts";
import type { TraceFacets } from "./schema.ts";

export interface FacetsRequested {
  readonly facets: readonly Facet[];
  readonly contains?: string | null | undefined;
  /** Maximum number of values per facet. */
  readonly limit: number;
}

interface Row {
  /** Index of the facet; one past the last for the total. */
  readonly facet: number;
  readonly value: string;
  readonly traces: number;
  readonly all_values: number;
  readonly all_traces: number;
}

/** Counts traces by value, in one pass over the calls of the window. Errors: `StorageError`. */
export async function readFacets(
  engine: Engine,
  plan: TracesPlan,
  { requested, signal }: { readonly requested: FacetsRequested; readonly signal: AbortSignal },
): Promise<TraceFacets> {
  const { window } = plan;
  const rows =
    window.endUs <= window.startUs
      ? []
      : await engine.rows<Row>(statementOf(plan, requested), {
          name: "traces_facets",
          limits: "heavy",
          signal,
        });
  const byFacet = Map.groupBy(rows, ({ facet }) => facet);
  return {
    start: isoOf(window.startUs),
    end: isoOf(window.endUs),
    traces: byFacet.get(requested.facets.length)?.[0]?.traces ?? 0,
    facets: requested.facets.map(({ label }, place) => facetOf(label, byFacet.get(place) ?? [])),
  };
}

function facetOf(label: string, rows: readonly Row[]): TraceFacets["facets"][number] {
  const shown = rows.reduce((sum, { traces }) => sum + traces, 0);
  const [{ all_values: values, all_traces: traces } = { all_values: 0, all_traces: 0 }] = rows;
  return {
    facet: label,
    values: rows.map((row) => ({ value: valueOf(row.value), traces: row.traces })),
    other: { values: values - rows.length, traces: traces - shown },
  };
}

function statementOf(plan: TracesPlan, { facets, contains, limit }: FacetsRequested): Sql {
  const pairsOf = (values: Sql, place: number): Sql =>
    sql`arrayMap(value -> (toUInt8(${trusted(String(place))}), value), ${values})`;
  const all = [...facets.map(({ values }) => values), sql`['']`];
  const pairs = sql`arrayConcat(${join(all.map(pairsOf), ", ")}) AS pairs`;
  const text = sql`if(startsWith(value, '"'), JSONExtractString(value), value)`;
  const isRequested =
    contains == null
      ? sql``
      : sql`WHERE facet = ${param("UInt32", facets.length)} OR positionCaseInsensitiveUTF8(${text}, ${param("String", contains)}) > 0`;
  const counted = sql`SELECT pair.1 AS facet, pair.2 AS value, toUInt32(count()) AS traces
    FROM (${selectTraces(plan, plan.window, pairs)}) ARRAY JOIN pairs AS pair ${isRequested} GROUP BY facet, value`;
  return sql`SELECT facet, value, traces, toUInt32(count() OVER (PARTITION BY facet)) AS all_values,
      toUInt32(sum(traces) OVER (PARTITION BY facet)) AS all_traces
    FROM (${counted}) ORDER BY facet, traces DESC, value LIMIT ${param("UInt32", limit)} BY facet`;
}
