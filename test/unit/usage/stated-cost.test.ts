import { expect, it } from "vitest";
import { readUsage } from "../../../src/usage/read-usage.ts";
import { statedCostOf } from "../../../src/usage/stated-cost.ts";
import { storedSpan } from "../../helpers/otel-span.ts";

const nothing = undefined;
const stated = (ticks: number) => ({ ticks, usages: 1 });

it.each<[string, object, ReturnType<typeof stated> | undefined]>([
  ["nothing", {}, nothing],
  [
    "OpenRouter",
    { cost: 0.0033789, is_byok: false, cost_details: { upstream_inference_cost: 0.0033789 } },
    stated(33_789_000),
  ],
  [
    "OpenRouter with a key of one's own",
    { cost: 0.95, is_byok: true, cost_details: { upstream_inference_cost: 19 } },
    stated(199_500_000_000),
  ],
  [
    "a key of one's own without a fee",
    { cost: null, is_byok: true, cost_details: { upstream_inference_cost: 19 } },
    stated(190_000_000_000),
  ],
  [
    "a fee alone, which is not the cost",
    { cost: 0.95, is_byok: true, cost_details: { upstream_inference_cost: null } },
    nothing,
  ],
  ["xAI", { cost_in_usd_ticks: 318_319_001 }, stated(318_319_001)],
  [
    "Perplexity: its total, not its rounded parts",
    { cost: { input_tokens_cost: 0, output_tokens_cost: 0, total_cost: 0.006 } },
    stated(60_000_000),
  ],
  ["0, which is not nothing", { cost: 0 }, stated(0)],
  ["less than nothing", { cost: -0.1 }, nothing],
  ["no number", { cost: "0.1" }, nothing],
  ["null", { cost: null, cost_in_usd_ticks: null }, nothing],
  ["more than any response costs", { cost: 1_000_001 }, nothing],
  ["infinitely much", { cost: Infinity }, nothing],
  ["a part of a tick", { cost_in_usd_ticks: 0.5 }, nothing],
  ["names of the store", { stated_ticks: 5, stated_usages: 3 }, nothing],
])("reads the stated cost of an entry: %s", (_, entry, expected) => {
  const [usage] = readUsage({ usage: { m: { requests: 1, prompt_tokens: 3, ...entry } } });
  expect(statedCostOf(usage?.units)).toEqual(expected);
});

it("completes a summary without a cost from the response", () => {
  const counts = { prompt_tokens: 3, completion_tokens: 1 };
  const [usage] = readUsage({ usage: { m: counts } }, { usage: { ...counts, cost: 0.5 } });
  expect(statedCostOf(usage?.units)).toEqual(stated(5_000_000_000));
});

const tokens = { "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 3 };
it.each<[string, object, object]>([
  ["OpenLIT", { ...tokens, "gen_ai.usage.cost": 0.25 }, { requests: 1, prompt_tokens: 3, cost: 0.25 }],
  ["LiteLLM", { ...tokens, "gen_ai.cost.total_cost": 0 }, { requests: 1, prompt_tokens: 3, cost: 0 }],
  ["OpenInference", { ...tokens, "llm.cost.total": 0.5 }, { requests: 1, prompt_tokens: 3, cost: 0.5 }],
  ["Pydantic AI", { ...tokens, "operation.cost": 0.5 }, { requests: 1, prompt_tokens: 3, cost: 0.5 }],
  [
    "Langfuse",
    { ...tokens, "langfuse.observation.cost_details": '{"total":0.5}' },
    { requests: 1, prompt_tokens: 3, cost: 0.5 },
  ],
  [
    "Vercel's gateway",
    { ...tokens, "ai.response.providerMetadata": '{"gateway":{"cost":"0.0005"}}' },
    { requests: 1, prompt_tokens: 3, cost: 0.0005 },
  ],
  [
    "xAI in the AI SDK",
    { ...tokens, "ai.response.providerMetadata": '{"xai":{"costInUsdTicks":700000000}}' },
    { requests: 1, prompt_tokens: 3, cost: 0.07 },
  ],
  [
    "no credible one",
    { ...tokens, "gen_ai.usage.cost": -1, "operation.cost": "0.5" },
    { requests: 1, prompt_tokens: 3 },
  ],
  ["a cost alone is no request", { "gen_ai.request.model": "m", "gen_ai.usage.cost": 0.25 }, { cost: 0.25 }],
])("reads the cost that a span states: %s", (_, attributes, entry) => {
  expect(storedSpan({ ...attributes })["summary"]).toEqual({ usage: { m: entry } });
});
