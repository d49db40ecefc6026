import type { components, operations } from "./schema.d.ts";

type Schemas = components["schemas"];
type JsonBody<Operation> = Operation extends { requestBody: { content: { "application/json": infer Body } } }
  ? Body
  : never;

export type Whoami = Schemas["WhoamiRes"];
export type Call = Schemas["Call"];
export type Receipt = Schemas["Receipt"];
export type ReceiptQuery = Schemas["ReceiptReq"];
export type TraceUsage = Schemas["TraceUsageRes"];
export type TraceCallsQuery = Schemas["TraceCallsReq"];
export type TraceSizes = Schemas["TraceSizesRes"];
export type TraceSizesQuery = Schemas["TraceSizesReq"];
export type CallsQuery = Schemas["CallsQueryReq"];
export type TraceUsageQuery = JsonBody<operations["traceUsage"]>;
export type Feedback = Schemas["Feedback"];
export type FeedbackQuery = Schemas["FeedbackQueryReq"];
export type FeedbackPath = Schemas["FeedbackPath"];
export type FeedbackPaths = Schemas["FeedbackPayloadSchemaRes"];
export type FeedbackStats = Schemas["FeedbackStatsRes"];
export type FeedbackStatsQuery = Omit<Schemas["FeedbackStatsReq"], "timezone" | "metrics"> & {
  readonly timezone?: string;
  readonly metrics?: FeedbackMetric[];
};
export type FeedbackMetric = Omit<Schemas["FeedbackMetric"], "value_type"> & {
  readonly value_type: FeedbackPath["value_type"];
};
export type UsageStats = Schemas["UsageStatsRes"];
export type UsageTotal = Schemas["UsageTotal"];
export type UsageStatsQuery = Omit<Schemas["UsageStatsReq"], "timezone" | "include_costs" | "limit"> & {
  readonly timezone?: string;
  readonly include_costs?: boolean;
  readonly limit?: number;
};
