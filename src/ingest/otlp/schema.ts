import { z } from "zod";

/** OpenAPI only: the decoders validate the body. */
export const exportReq = z
  .looseObject({
    resourceSpans: z.array(z.looseObject({ scopeSpans: z.array(z.looseObject({})).optional() })).optional(),
  })
  .meta({ id: "ExportTraceServiceRequest", description: "As in the OTLP specification" });

export const exportRes = z
  .object({
    partialSuccess: z
      .object({
        rejectedSpans: z.string().describe("The number of rejected spans: a 64-bit integer, as text"),
        errorMessage: z.string().describe("Up to 5 reasons, with span counts"),
      })
      .optional()
      .describe("Only if spans were rejected"),
  })
  .meta({ id: "ExportTraceServiceResponse" });
