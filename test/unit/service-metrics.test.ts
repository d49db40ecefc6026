import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { createServiceMetrics } from "../../src/service-metrics.ts";

describe("models without a price", () => {
  it("are labelled separately up to a hundred, for any names", async () => {
    const registry = new Registry();
    const metrics = createServiceMetrics(registry);
    for (let model = 0; model < 250; model++) metrics.priceUnknown(`model-${model}-${"x".repeat(500)}\n"\\`);
    metrics.priceUnknown(`model-3-${"x".repeat(500)}\n"\\`);
    const { values } = await registry.getSingleMetric("sumtree_unpriced_responses_total")!.get();
    const counts = new Map(values.map(({ labels, value }) => [String(labels["llm"]), value]));
    expect(counts.size).toBe(101);
    expect(counts.get("(other)")).toBe(150);
    expect([...counts].find(([llm]) => llm.startsWith("model-3-"))?.[1]).toBe(2);
    expect(Math.max(...[...counts.keys()].map((llm) => llm.length))).toBe(100);
  });
});
