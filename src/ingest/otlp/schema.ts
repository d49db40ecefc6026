import { z } from "zod";
import type { SignalNames } from "./signal-names.ts";

/** OpenAPI only: the decoders validate the body. */
export function exportReq({ service, resources, scopes }: SignalNames) {
  const resource = z.looseObject({ [scopes]: z.array(z.looseObject({})).optional() });
  return z
    .looseObject({ [resources]: z.array(resource).optional() })
    .meta({ id: `${service}Request`, description: "As in the OTLP specification" });
}

export function exportRes({ service, rejected, counted }: SignalNames) {
  return z
    .object({
      partialSuccess: z
        .object({
          [rejected]: z.string().describe(`The number of rejected ${counted}: a 64-bit integer, as text`),
          errorMessage: z.string().describe(`Up to 5 reasons, with counts of ${counted}`),
        })
        .optional()
        .describe(`Only if ${counted} were rejected`),
    })
    .meta({ id: `${service}Response` });
}
