import { inTraces } from "../../query/trace-hours.ts";
import type { ProviderOf } from "../../usage/usage.ts";
import { addMoney, type Money } from "../../prices/money.ts";
import { recordCount } from "../../usage-rollup/manifests.ts";
import { moneyOf, type TraceRecords } from "../../usage-rollup/records-by-trace.ts";
import type { TracesPlan } from "../plan/plan-traces.ts";
import type { ReadDeps } from "../read/fold-traces.ts";
import { selectTraces, type FoldedTrace } from "../read/select-traces.ts";
import { readValues } from "../read/root-values.ts";
import { facetsStatement } from "./facets-statement.ts";
import type { Facet } from "./plan-facets.ts";

/** Traces with one value. */
export interface ValueCount {
  readonly traces: number;
  readonly cost: Money;
}

/** Values of a facet, as JSON, with the most traces first. */
export interface FacetValues {
  readonly values: readonly (readonly [value: string, count: ValueCount])[];
  /** Number of values left out. */
  readonly other: number;
}

/** Counts the selected traces by the values of facets. Errors: `StorageError`; too_many_calls. */
export async function readFacets(
  deps: ReadDeps,
  plan: TracesPlan,
  { facets, limit }: { readonly facets: readonly Facet[]; readonly limit: number },
): Promise<readonly FacetValues[]> {
  const count = (folded: readonly FoldedTrace[]) => countFolded(deps, plan, { facets, folded });
  const { ofRecords, ofCalls } = await selectTraces(deps, plan, async (records, folded) => {
    const known = await count((await folded).traces);
    const found = await countRecords(deps, { records, plan }, { facets, limit, known });
    return found === "changed" ? found : { found, known };
  });
  const known = ofRecords?.known ?? (await count(ofCalls.traces));
  return facets.map((_, place) => merged(ofRecords?.found[place], known[place]!, limit));
}

/** Values of a facet in the records: those asked for, and the most frequent. */
interface RecordValues {
  readonly counts: ReadonlyMap<string, ValueCount>;
  readonly values: number;
}

function merged(
  ofRecords: RecordValues | undefined,
  folded: ReadonlyMap<string, ValueCount>,
  limit: number,
): FacetValues {
  const counts = new Map(ofRecords?.counts);
  let values = ofRecords?.values ?? 0;
  for (const [value, count] of folded) {
    const known = counts.get(value);
    if (known === undefined) values++;
    counts.set(value, known === undefined ? count : addCounts(known, count));
  }
  const shown = [...counts]
    .sort(([a, one], [b, other]) => other.traces - one.traces || (a < b ? -1 : 1))
    .slice(0, limit);
  return { values: shown, other: values - shown.length };
}

function addCounts(one: ValueCount, other: ValueCount): ValueCount {
  return { traces: one.traces + other.traces, cost: addMoney(one.cost, other.cost) };
}

/** Counts folded traces by value, a map per facet. */
async function countFolded(
  { engine, providerOf, signal }: ReadDeps,
  { project }: TracesPlan,
  { facets, folded }: { readonly facets: readonly Facet[]; readonly folded: readonly FoldedTrace[] },
): Promise<readonly ReadonlyMap<string, ValueCount>[]> {
  const place = inTraces(
    project,
    folded.map(({ traceId }) => traceId),
  );
  return Promise.all(
    facets.map(async ({ ofRecords, valuesIn }) => {
      const valuesOf =
        valuesIn === undefined || folded.length === 0
          ? new Map<string, readonly string[]>()
          : await readValues(engine, valuesIn(project, place), signal);
      const counts = new Map<string, ValueCount>();
      for (const { traceId, models, figures } of folded) {
        const values =
          ofRecords !== undefined && "models" in ofRecords
            ? models.map(({ llm, provider }) => modelText(ofRecords.models, { llm, provider }, providerOf))
            : (valuesOf.get(traceId) ?? []);
        for (const value of new Set(values.length === 0 ? [""] : values)) {
          const known = counts.get(value);
          const one = { traces: 1, cost: figures.cost };
          counts.set(value, known === undefined ? one : addCounts(known, one));
        }
      }
      return counts;
    }),
  );
}

function modelText(
  source: "llm" | "provider",
  { llm, provider }: { readonly llm: string; readonly provider: string | undefined },
  providerOf: ProviderOf,
): string {
  const name = source === "llm" ? llm : providerOf(llm, provider);
  return name === null ? "" : JSON.stringify(name);
}

interface Row {
  /** One past the last facet: all traces. */
  readonly facet: number;
  readonly value: string;
  readonly traces: number;
  readonly records: string;
  readonly amount: string;
  readonly priced: number;
  readonly unpriced: number;
  readonly all_values: number;
}

/** Counts the selected traces of the records. `known`: values to include, by facet. */
async function countRecords(
  { engine, providerOf, signal }: ReadDeps,
  { records, plan }: { readonly records: TraceRecords; readonly plan: TracesPlan },
  asked: {
    readonly facets: readonly Facet[];
    readonly limit: number;
    readonly known: readonly ReadonlyMap<string, ValueCount>[];
  },
): Promise<readonly RecordValues[] | "changed"> {
  const known = asked.known.map((counts) => [...counts.keys()]);
  const statement = facetsStatement(records, plan, {
    ...asked,
    known,
    modelText: (source, { llm, service }) =>
      modelText(source, { llm, provider: service?.provider }, providerOf),
  });
  const rows = await engine.rows<Row>(statement, { name: "traces_facets", limits: "heavy", signal });
  const byFacet = Map.groupBy(rows, ({ facet }) => facet);
  const found = Number(byFacet.get(asked.facets.length)?.[0]?.records ?? 0);
  if (found !== recordCount(records.manifests)) return "changed";
  const moneyOfRow = ({ amount, priced, unpriced }: Row): Money =>
    moneyOf(records.prices, [amount, priced, unpriced]);
  return asked.facets.map((_, place) => {
    const some = byFacet.get(place) ?? [];
    return {
      counts: new Map(some.map((row) => [row.value, { traces: row.traces, cost: moneyOfRow(row) }])),
      values: some[0]?.all_values ?? 0,
    };
  });
}
