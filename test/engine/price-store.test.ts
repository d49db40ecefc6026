import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPriceStore, type NewPrice, type PriceStore } from "../../src/prices/project/price-store.ts";
import { param, sql } from "../../src/query/sql.ts";
import { parseInstant } from "../../src/shared/instant.ts";
import type { Project } from "../../src/shared/project.ts";
import { startEngine, type TestEngine } from "../helpers/start-app.ts";

let test: TestEngine;
let store: PriceStore;
beforeAll(async () => {
  test = await startEngine();
  store = createPriceStore(test.engine);
});
afterAll(() => test.close());

const origin = { createdBy: "key", createdAtMs: Date.parse("2026-02-02T02:02:02.002Z") };
const newPrice = (llm_id: string, from: string, prompt: number): NewPrice => ({
  llm_id,
  provider_id: "default",
  effectiveAtUs: parseInstant(from)!,
  prompt_token_cost: prompt,
  completion_token_cost: 0.5,
  cache_read_input_token_cost: null,
  cache_creation_input_token_cost: 0,
  service_tier: "",
  unit_costs: {},
});
let projects = 0;
const freshProject = (): Project => `acme/prices-${projects++}` as Project;

describe("the price store", () => {
  it("returns a price once that was written twice, and not at all once purged, in any order", async () => {
    const project = freshProject();
    const [id] = await store.add(project, [newPrice("m", "2026-01-01", 1)], origin);
    const [row] = await test.engine.rows<object>(
      sql`SELECT * FROM llm_prices WHERE id = ${param("String", id!)}`,
      { name: "test" },
    );
    await test.engine.insert("llm_prices", [row!], { name: "test" });
    expect(await store.all(project)).toHaveLength(1);
    await store.purge(project, [id!]);
    expect(await store.all(project)).toEqual([]);
    await test.engine.insert("llm_prices", [row!], { name: "test" });
    expect(await store.all(project)).toEqual([]);
  });

  it("isolates projects: neither reads nor purges the other's prices", async () => {
    const [mine, theirs] = [freshProject(), freshProject()];
    const [id] = await store.add(theirs, [newPrice("m", "2026-01-01", 1)], origin);
    await store.purge(mine, [id!]);
    expect(await store.all(mine)).toEqual([]);
    expect(await store.all(theirs)).toHaveLength(1);
  });
});
