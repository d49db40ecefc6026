import { describe, expect, it } from "vitest";
import { outputKeys, planMetrics, type MetricSpec } from "../../../../src/feedback/stats/metrics.ts";

function spec(json_path: string, more: Partial<MetricSpec> = {}): MetricSpec {
  return { json_path, value_type: "numeric", aggregations: [], percentiles: [], ...more };
}

/** The keys of a bucket, in order. */
function keys(...specs: MetricSpec[]): string[] {
  return planMetrics(specs).flatMap(outputKeys);
}

describe("planMetrics", () => {
  it("uses the default aggregations of the type", () => {
    expect(keys(spec("n"))).toEqual(["avg_n", "min_n", "max_n"]);
    expect(keys(spec("b", { value_type: "boolean" }))).toEqual(["count_true_b", "count_false_b"]);
    expect(keys(spec("c", { value_type: "categorical" }))).toEqual(["count_c"]);
  });

  it("makes a slug of any path", () => {
    expect(keys(spec("output.Low quality.é-1", { aggregations: ["sum"] }))).toEqual([
      "sum_output_Low_quality___1",
    ]);
  });

  it("numbers the slug of a metric whose slug or key is taken", () => {
    const sum = { aggregations: ["sum"] } as const;
    expect(keys(spec("a.b", sum), spec("a_b", sum), spec("a b", sum))).toEqual([
      "sum_a_b",
      "sum_a_b_2",
      "sum_a_b_3",
    ]);
    expect(keys(spec("a.b", sum), spec("a_b_2", sum), spec("a_b", sum))).toEqual([
      "sum_a_b",
      "sum_a_b_2",
      "sum_a_b_3",
    ]);
    const count = { aggregations: ["count"] } as const;
    expect(
      keys(spec("true_x", count), spec("x", { value_type: "boolean", aggregations: ["count_true"] })),
    ).toEqual(["count_true_x", "count_true_x_2"]);
  });
});
