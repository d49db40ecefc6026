import { createHash } from "node:crypto";
import type { AgentPoint } from "../../../agent-metrics/agent-point.ts";
import { outcomeOf } from "../../../agent-metrics/outcomes.ts";
import { fromUnixNanos } from "../../../shared/instant.ts";
import { stringifyJson } from "../../../shared/json.ts";
import type { Project } from "../../../shared/project.ts";
import { textOf, type Attributes } from "../attributes.ts";
import type { OtelMetricPoint } from "../metric-point.ts";
import type { SpanOrigin } from "../span.ts";
import { unflatten } from "../unflatten.ts";
import { firstText } from "../usage-of-span.ts";
import { userOf } from "./agent-attributes.ts";

/** A data point with its resource, scope and sender. */
export interface SentPoint {
  readonly project: Project;
  /** Id of the API key. */
  readonly apiKey: string;
  readonly origin: SpanOrigin;
  readonly point: OtelMetricPoint;
}

const MAX_TEXT_LENGTH = 512;
const SESSION = "session.id gen_ai.conversation.id conversation.id cursor.conversation.id ulid".split(" ");
/** Attributes of resource and point that are stored under their own names. */
const KEPT = new Set(
  `team.id team.name cost_center department organization.id vcs.repository.name vcs.repository.url.full vcs.ref.head.name
  vcs.ref.head.revision service.name service.version app.version terminal.type model tool_name language query_source`.split(
    /\s+/,
  ),
);

/**
 * Converts a data point of a known metric of a coding agent; `undefined` if it is ignored, as one of another metric, without a
 * time or with a negative value is.
 */
export function agentPointOf({ project, apiKey, origin, point }: SentPoint): AgentPoint | undefined {
  const { metric, kind, value, atNanos } = point;
  const outcome = outcomeOf(metric, point.attributes);
  const at = atNanos === 0n ? undefined : fromUnixNanos(atNanos);
  if (outcome === undefined || at === undefined) return undefined;
  if (!Number.isFinite(value) || value < 0) return undefined;
  const attributes = new Map([...origin.resource, ...point.attributes]);
  return {
    project_id: project,
    outcome,
    is_delta: kind === "delta" ? 1 : 0,
    series: seriesOf(point, origin),
    started_at_us: fromUnixNanos(point.startedAtNanos) ?? 0,
    at_us: at,
    value,
    thread_id: firstText(attributes, SESSION)?.slice(0, MAX_TEXT_LENGTH) ?? "",
    svc_user_id: userOf(origin.resource, point.attributes)?.slice(0, MAX_TEXT_LENGTH) ?? "",
    api_key: apiKey,
    attributes: stringifyJson(unflatten(keptOf(attributes))),
  };
}

function* keptOf(attributes: Attributes): Generator<[string, unknown]> {
  for (const [name, sent] of attributes) {
    if (textOf(sent) === null) continue;
    const value = typeof sent === "string" ? sent.slice(0, MAX_TEXT_LENGTH) : sent;
    if (KEPT.has(name)) yield [name, value];
    if (name === "billing" && (value === "api" || value === "subscription")) yield ["sumtree.billing", value];
  }
}

function seriesOf({ metric, attributes }: OtelMetricPoint, origin: SpanOrigin): string {
  const sorted = (all: Attributes) => [...all].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const { resource, scopeName, scopeVersion } = origin;
  const identity = [sorted(resource), scopeName, scopeVersion, metric, sorted(attributes)];
  return createHash("sha256").update(stringifyJson(identity)).digest("base64url").slice(0, 22);
}
