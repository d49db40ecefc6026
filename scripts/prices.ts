import { parseArgs } from "node:util";
import { readInstant } from "../src/shared/instant.ts";
import { readUsage } from "../src/usage/read-usage.ts";
import { ConfigError, readConfig } from "../src/config.ts";
import { createBuiltInPrices } from "../src/prices/list/built-in-prices.ts";
import { explainPrice } from "../src/prices/explain-price.ts";
import { loadPriceList, PricesFileError } from "../src/prices/list/load-price-list.ts";

const USAGE = `Say what a model costs, and which entry of the price list says so.

  npm run prices -- explain <model> [--at <instant>] [--usage <JSON>]

The usage is an entry of summary.usage, as {"input_tokens": 1000, "output_tokens": 50}. Prices that a project has set
are in its store: ask /cost/query for them.`;

class UsageError extends Error {}

try {
  console.log(await run());
} catch (error) {
  const isOurs =
    error instanceof UsageError || error instanceof PricesFileError || error instanceof ConfigError;
  console.error(isOurs ? error.message : error);
  process.exitCode = 1;
}

async function run(): Promise<string> {
  const { command, llmId, at, usage } = readArguments();
  if (command !== "explain" || llmId === undefined) return USAGE;
  const atUs = at === undefined ? Date.now() * 1000 : readInstant(at);
  if (atUs === undefined) throw new UsageError("--at: an instant such as 2026-03-01 or 2026-03-01T12:00:00Z");
  const builtIn = createBuiltInPrices(await loadPriceList(readConfig().PRICES_FILE));
  return explainPrice(builtIn, { llmId, atUs, usage: usage === undefined ? undefined : usageOf(usage) });
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { at: { type: "string" }, usage: { type: "string" } },
    });
    return { command: positionals[0], llmId: positionals[1], ...values };
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${USAGE}`);
  }
}

function usageOf(json: string) {
  let entry: unknown;
  try {
    entry = JSON.parse(json);
  } catch {
    throw new UsageError('--usage: JSON such as {"input_tokens": 1000, "output_tokens": 50}');
  }
  const [usage] = readUsage({ usage: { model: entry } });
  if (usage === undefined) throw new UsageError("--usage: has no count above 0");
  return usage;
}
