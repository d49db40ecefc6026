import type { ResponseUsage } from "../apis/model-api.ts";
import type { RecordedCompletion } from "./recorded-completion.ts";

export type Counted =
  | Exclude<ResponseUsage, { readonly basis: "none" }>
  | { readonly basis: "estimated"; readonly usage: Readonly<Record<string, unknown>> };

export interface Served {
  readonly model: string;
  readonly provider: string | undefined;
  /** Service tier, if the response reports it outside the usage. */
  readonly tier: string | undefined;
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
