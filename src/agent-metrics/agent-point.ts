import type { Project } from "../shared/project.ts";

/** A data point of a metric of a coding agent, as stored. */
export interface AgentPoint {
  readonly project: Project;
  readonly metric: string;
  readonly kind: "delta" | "cumulative";
  /** Identity of the time series: resource, scope, metric and attributes. */
  readonly series: string;
  /** Microseconds since the epoch; 0 if the agent did not say when the series began. */
  readonly startedAt: number;
  readonly at: number;
  readonly value: number;
  readonly threadId: string;
  readonly userId: string;
  readonly apiKey: string;
  /** Kept attributes of resource and point, nested as in a call. */
  readonly attributes: object;
}
