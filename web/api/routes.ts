import type { components, paths } from "./schema.d.ts";

type Schemas = components["schemas"];

interface Posted {
  requestBody: { content: { "application/json": object } };
  responses: { 200: { content: object } };
}

/** A route that takes a question by POST. */
export type Route = {
  [Path in keyof paths]: paths[Path] extends { post: Posted } ? Path : never;
}[keyof paths];

type PostOf<Path extends Route> = Extract<paths[Path]["post"], Posted>;

export type BodyOf<Path extends Route> = PostOf<Path>["requestBody"]["content"]["application/json"];

type ContentOf<Path extends Route> = PostOf<Path>["responses"][200]["content"];

export type AnswerOf<Path extends Route> =
  ContentOf<Path> extends { "application/json": infer Body } ? Body : never;

/** One line of an answer that has many. */
export type LineOf<Path extends Route> =
  ContentOf<Path> extends { "application/x-ndjson": infer Line } ? Line : never;

export type Query = Schemas["Query"];
export type Whoami = Schemas["WhoamiRes"];
export type Call = Schemas["Call"];
export type Receipt = Schemas["Receipt"];
export type TraceList = Schemas["TracesQueryRes"];
export type TraceRow = TraceList["traces"][number];
export type FeedbackPath = Schemas["FeedbackPath"];
export type FeedbackMetric = Schemas["FeedbackMetric"];
export type FeedbackStats = Schemas["FeedbackStatsRes"];
export type UsageStats = Schemas["UsageStatsRes"];
export type ApiKey = Schemas["ApiKey"];
export type Price = Schemas["Price"];
export type Budget = Schemas["BudgetState"];
export type UsageTotal = Schemas["UsageTotal"];
export type TrainingJob = Schemas["TrainingJobsQueryRes"]["jobs"][number];
export type DatasetExport = Schemas["DatasetQueryRes"]["exports"][number];
export type AgentStats = Schemas["AgentStatsRes"];
