import { z } from "zod";

/** Describes the body only: the decoders check it more thoroughly. */
export const exportReq = z
  .looseObject({
    resourceSpans: z.array(z.looseObject({ scopeSpans: z.array(z.looseObject({})).optional() })).optional(),
  })
  .meta({ id: "ExportTraceServiceRequest", description: "As the OTLP specification has it" });

export const exportRes = z
  .object({
    partialSuccess: z
      .object({
        rejectedSpans: z.string().describe("How many spans were set aside: a 64-bit integer, as text"),
        errorMessage: z.string().describe("Why"),
      })
      .optional()
      .describe("Only when spans were set aside"),
  })
  .meta({ id: "ExportTraceServiceResponse" });
