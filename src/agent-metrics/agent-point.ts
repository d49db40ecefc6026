import type { Project } from "../shared/project.ts";
import type { Outcome } from "./outcomes.ts";

/** Row of `agent_points`: a data point of a metric of a coding agent, without its hour. */
export interface AgentPoint {
  readonly project_id: Project;
  readonly outcome: Outcome;
  readonly is_delta: 0 | 1;
  /** Hash of resource, scope, metric and attributes. */
  readonly series: string;
  /** 0 if not sent. */
  readonly started_at_us: number;
  readonly at_us: number;
  /** Finite, not negative. */
  readonly value: number;
  readonly thread_id: string;
  readonly svc_user_id: string;
  readonly api_key: string;
  /** JSON, nested as those of a call. */
  readonly attributes: string;
}
