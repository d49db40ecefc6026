import { completeEvent, type CallEvent, type CallStart } from "../../calls/events/call-event.ts";
import type { Project } from "../../shared/project.ts";
import { readUsage } from "../../usage/read-usage.ts";
import { serviceOf } from "../../usage/read-service.ts";
import { toCount } from "../../usage/to-count.ts";
import type { Usage } from "../../usage/usage.ts";
import { fromUnixNanos, toIso, toStoreText, type EpochMicros } from "../../shared/instant.ts";
import { isTooDeep } from "../../shared/json.ts";
import { completionIdOf, storedId } from "../../calls/events/completion.ts";
import { keptAttributes, sessionOf, userOf } from "./agents/agent-attributes.ts";
import type { Agent } from "./agents/agent.ts";
import { agentOf } from "./agents/agents.ts";
import { eventOfLog } from "./agents/event-of-log.ts";
import { reportsOf } from "./agents/request-reports.ts";
import { labelsIn, withoutContent } from "./agents/without-content.ts";
import {
  COMPLETION_ID,
  DISPLAY_NAME,
  IS_TURN,
  PAYLOAD_EVENTS,
  RUN,
  RUN_STEP,
  THREAD,
  USER,
  WEAVE_CALL,
} from "./attribute-rows.ts";
import { textOf, type Attributes } from "./attributes.ts";
import type { OtelLogRecord } from "./log-record.ts";
import { unflatten } from "./unflatten.ts";
import { extractPayload } from "./payload.ts";
import type { OtelEvent, OtelSpan, SpanOrigin } from "./span.ts";
import { factsOf, inclusiveOf, type SpanOfProducer } from "./producers.ts";
import { serviceOfSpan } from "./service-of-span.ts";
import { firstText, usageOfSpan } from "./usage-of-span.ts";

const TRACE_ID = /^(?!0{32})[0-9a-f]{32}$/;
const SPAN_ID = /^(?!0{16})[0-9a-f]{16}$/;
const KINDS = ["unspecified", "internal", "server", "client", "producer", "consumer"] as const;
const STATUS_CODES = ["unset", "ok", "error"] as const;
const ERROR = STATUS_CODES.indexOf("error");
const MAX_NAME_LENGTH = 1000;
const MAX_ID_LENGTH = 512;

/** Settings for the spans of coding agents; those of other producers are always stored whole. */
interface AgentOptions {
  /** Project of the span: Qwen Code sends its log records as spans where it may send no logs. Default: they stay spans. */
  readonly project?: Project;
  /** True to keep prompts, tool arguments and outputs. */
  readonly keepsContent?: boolean;
}

/**
 * Converts a span to a call event; ids are lower-case hex. `apiKey`: id of the API key that sent it. Returns the reason, as
 * text, if the span is rejected.
 */
export function toCallEvent(
  span: OtelSpan,
  origin: SpanOrigin,
  apiKey: string,
  { project, keepsContent = false }: AgentOptions = {},
): CallEvent | string {
  if (project !== undefined && span.attributes.get("log.bridge") === true) {
    const event = eventOfLog(bridgedRecord(span), origin, { project, apiKey, keepsContent });
    if (event !== undefined) return event;
  }
  if (!TRACE_ID.test(span.traceId) || !SPAN_ID.test(span.spanId))
    return "a span has no trace id or no span id";
  const startedAt = toMicros(span.startedAtNanos);
  if (startedAt === undefined) return "a span has no start time, or one out of range";
  const endedAt = toMicros(span.endedAtNanos);
  if (endedAt === undefined && span.endedAtNanos !== 0n) return "a span has an end time out of range";

  const attributes = withPayloadEvents(span);
  const agent = agentOf(origin, [span.name]);
  const payload = extractPayload(attributes);
  const isWhole = agent === undefined || keepsContent;
  const shown = isWhole ? span : withoutContent(span);
  const [inputs, output] = isWhole ? [payload.inputs, payload.output] : [];
  const sent = {
    name: span.name,
    scopeName: origin.scopeName,
    scopeVersion: origin.scopeVersion,
    attributes,
  };
  const reported = usageOfSpan(sent);
  const plain = isWhole ? payload.rest : labelsIn(payload.rest);
  const kept = agent === undefined ? [] : keptAttributes(agent, origin.resource, attributes);
  const nested = unflatten(new Map([...plain, ...kept]));
  const stored = {
    ...nested,
    otel: {
      ...(nested["otel"] as object | undefined),
      ...otelMembers(
        shown,
        isWhole ? origin : { ...origin, nestedResource: unflatten(labelsIn(origin.resource)) },
      ),
      ...(reported !== undefined && { usage_basis: reported.reading.basis }),
    },
  };
  if (isTooDeep(inputs) || isTooDeep(output) || isTooDeep(stored))
    return "a span has attributes nested too deep";

  const inclusive = inclusiveOf(sent);
  const start = {
    ...toStart(span, sent, startedAt),
    ...(agent !== undefined && startOfAgent(agent, origin, attributes)),
    inputs,
    attributes: stored,
    apiKey,
    inclusive,
  };
  const usage = reported?.usage;
  const responseId = firstText(attributes, COMPLETION_ID) ?? reported?.responseId ?? null;
  const completionId = storedId(responseId) || completionIdOf(payload.output);
  // leave absent members undefined: an earlier message may have set them
  const event = completeEvent(start, {
    id: span.spanId,
    endedAt,
    output,
    summary: usage === undefined ? undefined : { usage },
    usage:
      usage === undefined
        ? undefined
        : readUsage({ usage }, payload.output).map((used) => withServiceOf(used, sent)),
    exception: exceptionOf(shown),
    completionId: completionId || (usage === undefined ? undefined : ""),
    reports: usage && reportsOf(agent, { attributes, completionId, traceId: span.traceId }, "span"),
  });
  return { ...event, reading: reported?.reading };
}

function bridgedRecord({ name, startedAtNanos, attributes }: OtelSpan): OtelLogRecord {
  // its trace is that of the record, which has none
  return {
    atNanos: startedAtNanos,
    observedAtNanos: 0n,
    eventName: "",
    body: name,
    attributes,
    traceId: "",
    spanId: "",
  };
}

/** The session, prompt and user, as far as the agent says them. */
function startOfAgent(agent: Agent, { resource }: SpanOrigin, attributes: Attributes): Partial<CallStart> {
  const [thread, turn] = [sessionOf(agent, attributes), firstText(attributes, agent.turn ?? [])];
  const user = userOf(resource, attributes);
  return {
    ...(thread !== null && { threadId: thread.slice(0, MAX_ID_LENGTH) }),
    ...(turn !== null && { turnId: turn.slice(0, MAX_ID_LENGTH) }),
    ...(user !== undefined && { userId: user.slice(0, MAX_ID_LENGTH) }),
  };
}

/** Sets the provider and tier of usage; those of the span take precedence over those in its output. */
function withServiceOf(used: Usage, { attributes }: SpanOfProducer): Usage {
  const service = serviceOfSpan(attributes);
  if (service === undefined) return used;
  return { ...used, service: serviceOf(service.provider, [service.tier || (used.service?.tier ?? "")]) };
}

function toStart(
  span: OtelSpan,
  sent: SpanOfProducer,
  startedAt: EpochMicros,
): Omit<CallStart, "inputs" | "attributes" | "apiKey" | "inclusive"> {
  const { attributes } = sent;
  const { session = [], user = [] } = factsOf(sent);
  const step = toCount(attributes.get(RUN_STEP));
  const weaveCall = weaveCallOf(attributes);
  return {
    id: span.spanId,
    traceId: weaveCall?.traceId ?? span.traceId,
    parentId: SPAN_ID.test(span.parentSpanId) ? span.parentSpanId : weaveCall?.id,
    opName: span.name.slice(0, MAX_NAME_LENGTH),
    startedAt,
    displayName: firstText(attributes, DISPLAY_NAME)?.slice(0, MAX_NAME_LENGTH),
    threadId: firstText(attributes, [...THREAD, ...session])?.slice(0, MAX_ID_LENGTH),
    turnId: textOf(attributes.get(IS_TURN)) === "true" ? span.spanId : undefined,
    userId: firstText(attributes, [...USER, ...user])?.slice(0, MAX_ID_LENGTH),
    runId: firstText(attributes, RUN)?.slice(0, MAX_ID_LENGTH),
    runStep: attributes.has(RUN_STEP) ? step : undefined,
  };
}

/** Reads the Weave call in which a span began. The Weave SDK sets it on the spans of its process, whose traces differ. */
function weaveCallOf(attributes: Attributes): { readonly id: string; readonly traceId: string } | undefined {
  const [id, traceId] = WEAVE_CALL.map((name) => textOf(attributes.get(name)));
  if (!isCallId(id) || !isCallId(traceId)) return undefined;
  return { id, traceId };
}

function isCallId(text: string | null | undefined): text is string {
  return text != null && text !== "" && text.length <= MAX_ID_LENGTH;
}

function toMicros(nanos: bigint): EpochMicros | undefined {
  return nanos === 0n ? undefined : fromUnixNanos(nanos);
}

/** Merges the attributes of payload events into the span's, which take precedence. */
function withPayloadEvents(span: OtelSpan): Attributes {
  const carriers = span.events.filter((event) => PAYLOAD_EVENTS.has(event.name));
  if (carriers.length === 0) return span.attributes;
  return new Map([...carriers.flatMap((event) => [...event.attributes]), ...span.attributes]);
}

function exceptionOf({ status, events, attributes }: OtelSpan): string | undefined {
  if (status.code !== ERROR) return undefined;
  if (status.message !== "") return status.message;
  const event = events.findLast((one) => one.name === "exception");
  const recorded = event === undefined ? undefined : exceptionText(event.attributes);
  return recorded ?? textOf(attributes.get("error.type")) ?? "error";
}

function exceptionText(attributes: Attributes): string | undefined {
  const parts = ["exception.type", "exception.message"].flatMap((key) => textOf(attributes.get(key)) ?? []);
  return parts.length === 0 ? undefined : parts.join(": ");
}

/** Builds `attributes.otel`: the members of a span besides its attributes. */
function otelMembers(span: OtelSpan, origin: SpanOrigin): object {
  return {
    kind: KINDS[span.kind] ?? "unspecified",
    status: STATUS_CODES[span.status.code] ?? "unset",
    resource: origin.nestedResource,
    scope: { name: origin.scopeName, version: origin.scopeVersion },
    ...(span.events.length > 0 && { events: span.events.map(eventBlock) }),
    ...(span.links.length > 0 && {
      links: span.links.map((link) => ({
        trace_id: link.traceId,
        span_id: link.spanId,
        attributes: unflatten(link.attributes),
      })),
    }),
  };
}

function eventBlock({ name, atNanos, attributes }: OtelEvent): object {
  const at = toMicros(atNanos);
  return {
    name,
    ...(at !== undefined && { at: toIso(toStoreText(at)) }),
    attributes: PAYLOAD_EVENTS.has(name) ? {} : unflatten(attributes),
  };
}
