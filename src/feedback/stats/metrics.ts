export const VALUE_TYPES = ["numeric", "boolean", "categorical"] as const;
export type ValueType = (typeof VALUE_TYPES)[number];

export const AGGREGATIONS = ["sum", "avg", "min", "max", "count", "count_true", "count_false"] as const;
export type Aggregation = (typeof AGGREGATIONS)[number];

/** A requested metric. */
export interface MetricSpec {
  readonly json_path: string;
  readonly value_type: ValueType;
  readonly aggregations: readonly Aggregation[];
  readonly percentiles: readonly number[];
}

/** A metric over the values of one type at one path. */
export interface Metric {
  readonly path: string;
  readonly valueType: ValueType;
  /** Name in the response. */
  readonly slug: string;
  readonly aggregations: readonly Aggregation[];
  /** 0 to 100. */
  readonly percentiles: readonly number[];
}

const defaultAggregations = {
  numeric: ["avg", "min", "max"],
  boolean: ["count_true", "count_false"],
  categorical: ["count"],
} as const satisfies Record<ValueType, readonly Aggregation[]>;

/** Returns the names of a metric's numbers, in the order of `StatsRow.outputs`: `avg`, `p95`. Keys of the window statistics. */
export function outputNames(metric: Pick<Metric, "aggregations" | "percentiles">): readonly string[] {
  return [...metric.aggregations, ...metric.percentiles.map((percentile) => `p${percentile}`)];
}

/** Returns the keys of a metric's numbers in a bucket, in the same order: `avg_output_score`. */
export function outputKeys(metric: Pick<Metric, "aggregations" | "percentiles" | "slug">): readonly string[] {
  return outputNames(metric).map((name) => `${name}_${metric.slug}`);
}

/** Plans the metrics of a request: merges those of one path and type, without duplicate numbers; output keys are unique. */
export function planMetrics(specs: readonly MetricSpec[]): readonly Metric[] {
  const claimSlug = slugRegister();
  return [...Map.groupBy(specs, (spec) => `${spec.value_type} ${spec.json_path}`).values()].map((same) => {
    const { json_path: path, value_type: valueType } = same[0]!;
    const aggregations = new Set(same.flatMap(aggregationsOf));
    const percentiles = new Set(valueType === "numeric" ? same.flatMap((spec) => spec.percentiles) : []);
    const outputs = { aggregations: [...aggregations], percentiles: [...percentiles] };
    return { path, valueType, ...outputs, slug: claimSlug(path, outputs) };
  });
}

function aggregationsOf(spec: MetricSpec): readonly Aggregation[] {
  return spec.aggregations.length > 0 ? spec.aggregations : defaultAggregations[spec.value_type];
}

/** Creates a function that assigns slugs in request order. Two types of one path share a slug if their keys differ. */
function slugRegister(): (path: string, outputs: Pick<Metric, "aggregations" | "percentiles">) => string {
  const pathBySlug = new Map<string, string>();
  const taken = new Set<string>();
  return (path, outputs) => {
    const base = path.replaceAll(/[^0-9A-Za-z_]/gu, "_");
    for (let attempt = 1; ; attempt++) {
      const slug = attempt === 1 ? base : `${base}_${attempt}`;
      const keys = outputKeys({ ...outputs, slug });
      if ((pathBySlug.get(slug) ?? path) !== path || keys.some((key) => taken.has(key))) continue;
      pathBySlug.set(slug, path);
      for (const key of keys) taken.add(key);
      return slug;
    }
  };
}
