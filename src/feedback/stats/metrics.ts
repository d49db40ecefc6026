export const VALUE_TYPES = ["numeric", "boolean", "categorical"] as const;
export type ValueType = (typeof VALUE_TYPES)[number];

export const AGGREGATIONS = ["sum", "avg", "min", "max", "count", "count_true", "count_false"] as const;
export type Aggregation = (typeof AGGREGATIONS)[number];

/** A metric as asked for. */
export interface MetricSpec {
  readonly json_path: string;
  readonly value_type: ValueType;
  readonly aggregations: readonly Aggregation[];
  readonly percentiles: readonly number[];
}

/** The values of one type at one path, and what is computed of them. */
export interface Metric {
  readonly path: string;
  readonly valueType: ValueType;
  /** Its name in the response. */
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

/** The aggregations of each type. */
export const allowedAggregations = {
  numeric: AGGREGATIONS,
  boolean: AGGREGATIONS,
  categorical: ["count"],
} as const satisfies Record<ValueType, readonly Aggregation[]>;

/** The names of a metric's numbers, in the order they are computed: `avg`, `p95`. Keys of the window statistics. */
export function outputNames(metric: Pick<Metric, "aggregations" | "percentiles">): readonly string[] {
  return [...metric.aggregations, ...metric.percentiles.map((percentile) => `p${percentile}`)];
}

/** The key of a number in a bucket: `avg_output_score`. */
export function outputKey(name: string, slug: string): string {
  return `${name}_${slug}`;
}

/** The metrics of a request: specs of one path and type merged, each number once, every output key unique. */
export function planMetrics(specs: readonly MetricSpec[]): readonly Metric[] {
  const claimSlug = slugRegister();
  return [...Map.groupBy(specs, (spec) => `${spec.value_type} ${spec.json_path}`).values()].map((same) => {
    const { json_path: path, value_type: valueType } = same[0]!;
    const aggregations = new Set(same.flatMap(aggregationsOf));
    const percentiles = new Set(valueType === "numeric" ? same.flatMap((spec) => spec.percentiles) : []);
    const wanted = { aggregations: [...aggregations], percentiles: [...percentiles] };
    return { path, valueType, ...wanted, slug: claimSlug(path, outputNames(wanted)) };
  });
}

function aggregationsOf(spec: MetricSpec): readonly Aggregation[] {
  return spec.aggregations.length > 0 ? spec.aggregations : defaultAggregations[spec.value_type];
}

/** Assigns slugs in request order. Two types of one path share a slug as long as their keys differ. */
function slugRegister(): (path: string, names: readonly string[]) => string {
  const pathBySlug = new Map<string, string>();
  const taken = new Set<string>();
  return (path, names) => {
    const base = path.replaceAll(/[^0-9A-Za-z_]/gu, "_");
    for (let attempt = 1; ; attempt++) {
      const slug = attempt === 1 ? base : `${base}_${attempt}`;
      const keys = names.map((name) => outputKey(name, slug));
      if ((pathBySlug.get(slug) ?? path) !== path || keys.some((key) => taken.has(key))) continue;
      pathBySlug.set(slug, path);
      for (const key of keys) taken.add(key);
      return slug;
    }
  };
}
