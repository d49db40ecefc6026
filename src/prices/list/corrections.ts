import { z } from "zod";
import { pricedUnits } from "../units.ts";
import data from "./corrections.json" with { type: "json" };

const PRICE_KEYS = [
  "input_mtok",
  "output_mtok",
  "cache_read_mtok",
  "cache_write_mtok",
  ...Object.values(pricedUnits).map(({ priceKey }) => priceKey),
] as const;
/** Prices by the built-in list's names, in USD: `_mtok` for a million tokens, `_kcount` for a thousand. */
const prices = z.partialRecord(z.enum(PRICE_KEYS), z.number().min(0));
const factor = z.number().positive();
const factors = z.partialRecord(z.enum(PRICE_KEYS), factor);
const pattern = z.string().transform((text) => new RegExp(text));
const provider = z.string().min(1).describe("An id of the built-in list");
const names = z.array(z.string().min(1)).min(1);
const seen = {
  source: z.string().startsWith("https://").describe("Where the provider publishes it"),
  checked: z.iso.date().describe("The day somebody last looked there"),
};
const why = z.string().min(1);
const range = <Bound extends z.ZodType>(bound: Bound) => z.tuple([bound, bound]);

const period = z.strictObject({
  from: z.iso.datetime(),
  prices: prices.optional().describe("Absent: unknown"),
  above: z
    .array(z.strictObject({ tokens: z.int(), factors }))
    .optional()
    .describe("Factors on all tokens of a request with a larger input"),
  peak: z.strictObject({ hours: z.string(), factor }).optional(),
});

/** The prices of models that the list lacks or has wrong. Before the first period, the list applies. */
const correction = z.strictObject({
  provider,
  models: names,
  why,
  ...seen,
  periods: z
    .array(period)
    .min(1)
    .refine((all) => all.every(({ from }, at) => at === 0 || all[at - 1]!.from < from), "not in order"),
});

const change = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("tier_start"), listed: z.int(), published: z.int() }),
  z.strictObject({ kind: z.literal("cache_write_1h"), factor_of_input: factor }),
  z.strictObject({ kind: z.literal("missing"), prices }),
  z.strictObject({
    kind: z.literal("unknown"),
    input_mtok: z.array(z.number()).optional().describe("Only entries with one of these prices"),
  }),
]);

/** A change to every entry whose id matches. Before `from`, entries apply unchanged. */
const adjustment = z.strictObject({
  providers: names,
  matching: pattern.describe("The id looked up, in lower case"),
  from: z.iso.datetime().optional(),
  why,
  ...seen,
  change,
});

const tierOf = { provider, tiers: names, ...seen };
const tierPrice = z.union([
  /** All tokens, of long requests too. */
  z.strictObject({ ...tierOf, factor, matching: pattern.optional() }),
  /** By the list's ids. Not for requests above the size from which the list charges more. */
  z.strictObject({
    ...tierOf,
    prices: z.record(
      z.string(),
      z.strictObject({
        input_mtok: z.number(),
        cache_read_mtok: z.number().optional(),
        output_mtok: z.number(),
      }),
    ),
  }),
  /** By the list's ids. Tokens cost the list price. */
  z.strictObject({ ...tierOf, requests_kcount: z.record(z.string(), z.number()) }),
]);

const hour = z.int().min(0).max(24);
/** The hours of every day; from `workdays_since` on, of working days only. Days begin at midnight of the offset. */
const peakHours = z.strictObject({
  hours_utc: z.array(range(hour)),
  workdays_since: z.iso.datetime(),
  utc_offset_hours: z.number(),
  holidays: z.array(range(z.iso.date())).describe("The first and the last day of each"),
  why,
  ...seen,
});

/** Schema of `corrections.json`. */
const correctionsSchema = z
  .strictObject({
    models: z.array(correction),
    adjustments: z.array(adjustment),
    tiers: z.array(tierPrice),
    list_price_tiers: z.array(z.strictObject(tierOf)).describe("Tiers that cost the list price"),
    peak_hours: z.record(z.string(), peakHours),
  })
  .refine(
    ({ models, peak_hours: known }) =>
      models.every(({ periods }) => periods.every(({ peak }) => peak === undefined || peak.hours in known)),
    "a period names peak hours that are not there",
  );

export type Correction = z.infer<typeof correction>;
export type CorrectedPeriod = z.infer<typeof period>;
export type Adjustment = z.infer<typeof adjustment>;
export type TierPrice = z.infer<typeof tierPrice>;
export type PeakHours = z.infer<typeof peakHours>;

/** The known errors and gaps of the built-in list. A test fails once the list is right about one; it is then deleted. */
export const corrections = correctionsSchema.parse(data);
