import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBuiltInPrices } from "../../../src/prices/list/built-in-prices.ts";
import { loadPriceList } from "../../../src/prices/list/load-price-list.ts";
import { createPriceBook } from "../../../src/prices/price-book.ts";
import { projectSchedules, type ProjectPrice } from "../../../src/prices/project/project-prices.ts";
import { runs } from "../../helpers/runs.ts";
import { chosenSeed } from "../../helpers/seeded-random.ts";

const builtIn = createBuiltInPrices(await loadPriceList());
const RUNS = runs(500, 20_000);
const seed = chosenSeed();

/** A name as calls report it, and the names whose prices are meant for it, best first. */
interface Named {
  readonly llmId: string;
  readonly meant: readonly string[];
}

const SLASHES = ["//", "///"];
const artifact = fc
  .record({
    slashes: fc.constantFrom(...SLASHES),
    path: fc.constantFrom(
      "acme/rl/agent-1",
      "acme/rl/agent",
      "acme/rl/agent-2026-01-01",
      "acme/gpt-4o/claude-opus-4-5",
      "claude/a/claude-3-opus",
    ),
    version: fc.constantFrom("", ":step1", ":step25", ":latest", ":v0", ":v17", ":best", ":production"),
  })
  .map(({ slashes, path, version }): Named => {
    const of = (one: string, mark: string): string => `wandb-artifact:${one}${path}${mark}`;
    const other = SLASHES.find((one) => one !== slashes)!;
    const meant = [of(slashes, version), of(other, version), of(slashes, ""), of(other, "")];
    return { llmId: meant[0]!, meant };
  });

const NAMES = [
  "our-llama",
  "acme/rl/agent-1",
  "llama3",
  "qwen2.5",
  "deepseek-r1",
  "claude-opus-4-5",
  "gemini-2.5-pro",
  "gpt-4o",
  "ft:gpt-4o-mini-2024-07-18:acme:x:7p4lURel",
];
const checkpoint = fc
  .tuple(fc.constantFrom(...NAMES), fc.constantFrom(":step1", ":step1000", ":ckpt-step-90", ":latest"))
  .map(([name, mark]): Named => ({ llmId: name + mark, meant: [name + mark, name] }));
const variant = fc
  .tuple(
    fc.constantFrom(...NAMES.slice(0, -1)),
    fc.constantFrom(
      ":free",
      ":nitro",
      ":floor",
      ":online",
      ":thinking",
      ":beta",
      ":7b",
      ":70b-instruct-q4_K_M",
    ),
  )
  .map(([name, tag]): Named => ({ llmId: name + tag, meant: [name + tag] }));
const unlike = fc
  .constantFrom(
    ":step",
    ":steps1",
    ":step1b",
    ":stepwise",
    ":v1",
    ":latest2",
    "-step1",
    "/step1",
    ":step1:free",
  )
  .map((tag): Named => ({ llmId: `our-llama${tag}`, meant: [`our-llama${tag}`] }));

const named = fc.oneof(artifact, checkpoint, variant, unlike);

const price = (llm_id: string): ProjectPrice => ({
  id: `price of ${llm_id}`,
  llm_id,
  provider_id: "default",
  effectiveAtUs: 0,
  createdAtMs: 0,
  prompt_token_cost: 1,
  completion_token_cost: 1,
  cache_read_input_token_cost: null,
  cache_creation_input_token_cost: null,
  service_tier: "",
  unit_costs: {},
});

describe("a price of a project", () => {
  it("is that of the very name, else that of the model whose checkpoint it names, and of nothing else", () => {
    fc.assert(
      fc.property(
        fc.array(named, { maxLength: 4 }),
        named,
        fc.infiniteStream(fc.boolean()),
        (others, one, has) => {
          const names = [...others, one].flatMap(({ meant }) => [...meant, meant.at(-1)!.split(":")[0]!]);
          const set = [...new Set(names)].filter(() => has.next().value);
          const book = createPriceBook({ builtIn, project: projectSchedules(set.map(price)) });
          const found = book.priceOf(one.llmId, 1, undefined);
          const expected = one.meant.find((name) => set.includes(name));
          const applied = found?.origin.source === "project" ? found.origin.price.llm_id : undefined;
          expect([one.llmId, applied]).toEqual([one.llmId, expected]);
        },
      ),
      { numRuns: RUNS, seed },
    );
  });
});

describe("a price of the public list", () => {
  it("is never that of a model for its checkpoints and variants, whoever serves them", () => {
    const provider = fc.constantFrom(
      "",
      "openai",
      "anthropic",
      "google",
      "aws",
      "azure",
      "deepseek",
      "our-proxy",
    );
    fc.assert(
      fc.property(fc.oneof(artifact, checkpoint, variant), provider, ({ llmId }, servedBy) => {
        fc.pre(!llmId.startsWith("ft:"));
        expect([llmId, servedBy, builtIn.find(llmId, servedBy)?.model]).toEqual([llmId, servedBy, undefined]);
      }),
      { numRuns: RUNS, seed },
    );
  });
});
