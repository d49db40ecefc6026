import type { ResponseUsage } from "../apis/model-api.ts";
import { estimateTokens } from "./estimate.ts";
import type { RecordedCompletion } from "./recorded-completion.ts";

type Uncounted = Extract<ResponseUsage, { readonly basis: "none" }>;

export type Counted =
  | Exclude<ResponseUsage, Uncounted>
  | (Omit<Required<Uncounted>, "basis"> & { readonly basis: "estimated" });

export interface Served {
  readonly model: string;
  readonly provider: string | undefined;
  /** Service tier, if the response reports it outside the usage. */
  readonly tier: string | undefined;
}

/** Estimates tokens from bytes of text, beside what was used for certain. */
export function estimatedUsage({ usage, others = {} }: Uncounted, prompt: number, output: number): Counted {
  const [prompted, written] = [estimateTokens(prompt), estimateTokens(output)];
  const tokens = { prompt_tokens: prompted, completion_tokens: written, total_tokens: prompted + written };
  return { basis: "estimated", usage: { ...usage, ...tokens }, others };
}

/** Returns the provider's usage by model, with provider and tier. The request counts for the requested model. */
export function usageEntries(
  counted: Counted,
  { model, provider, tier: named }: Served,
): RecordedCompletion["summary"]["usage"] {
  if (!("usage" in counted)) return {};
  const tier = counted.usage["service_tier"] ?? named;
  const served = {
    ...(tier === undefined ? {} : { service_tier: tier }),
    ...(provider === undefined ? {} : { provider }),
  };
  const own = { [model]: { ...counted.usage, ...served, requests: 1 } };
  if (!("others" in counted)) return own;
  const others = Object.entries(counted.others).map(([name, usage]) => [
    name,
    { ...usage, ...(provider === undefined ? {} : { provider }) },
  ]);
  return { ...Object.fromEntries(others), ...own };
}
