import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { waitForUpdate, type Provider } from "@pydantic/genai-prices";
import { z } from "zod";
import { parseJson } from "../../shared/json.ts";
import { corrections, type Correction } from "./corrections.ts";
import { createPriceList, type PriceList } from "./price-list.ts";

/** The version of `@pydantic/genai-prices` that is bundled with the service. A test compares it with package.json. */
export const builtInListVersion = "0.1.8";

/** `PRICES_FILE` cannot be used; the message says why. */
export class PricesFileError extends Error {
  constructor(problem: string) {
    super(`PRICES_FILE: ${problem}`);
    this.name = "PricesFileError";
  }
}

/**
 * The public price list: the operator's file, or else the bundled one. Errors: `PricesFileError` if the file is missing,
 * is not a price list, or contains no price.
 */
export async function loadPriceList(path?: string): Promise<PriceList> {
  const builtIn = (await waitForUpdate()) ?? [];
  if (path === undefined) {
    return createPriceList({
      name: `genai-prices ${builtInListVersion}`,
      providers: builtIn,
      corrections: corrections.models,
    });
  }
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new PricesFileError(`cannot be read (${error.code}).`);
  });
  const providers = readProviders(bytes.toString("utf8"));
  const digest = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
  const name = `${basename(path)} (sha256 ${digest})`;
  return createPriceList({ name, providers, corrections: stillNeeded(providers, builtIn) });
}

const amount = z.number().min(0);
const price = z.union([
  amount,
  z.looseObject({ base: amount, tiers: z.array(z.looseObject({ start: amount, price: amount })) }),
]);
const prices = z.record(z.string(), price.nullish());
const model = z.looseObject({
  id: z.string(),
  match: z.record(z.string(), z.unknown()),
  context_window: z.int().min(0).nullish(),
  prices: z.union([prices, z.array(z.looseObject({ prices })).min(1)]),
});
const fileSchema = z.array(z.looseObject({ id: z.string(), models: z.array(model) })).min(1);

function readProviders(text: string): readonly Provider[] {
  let parsed: unknown;
  try {
    parsed = parseJson(text);
  } catch {
    throw new PricesFileError("is not JSON.");
  }
  const result = fileSchema.safeParse(parsed);
  if (!result.success) {
    const [issue] = result.error.issues;
    throw new PricesFileError(
      `is not a list of genai-prices: ${issue?.path.join(".") || "the file"}: ${issue?.message}.`,
    );
  }
  return parsed as readonly Provider[];
}

/** A correction also applies to a newer list, until that list changes one of the correction's models. */
function stillNeeded(newer: readonly Provider[], builtIn: readonly Provider[]): readonly Correction[] {
  return corrections.models.filter(
    ({ provider, models }) => entriesOf(newer, provider, models) === entriesOf(builtIn, provider, models),
  );
}

function entriesOf(providers: readonly Provider[], providerId: string, ids: readonly string[]): string {
  const listed = providers.find(({ id }) => id === providerId)?.models ?? [];
  const ours = listed.filter(({ id }) => ids.includes(id.toLowerCase()));
  return JSON.stringify(ours.map(({ id, prices: costs }) => [id, costs]));
}
