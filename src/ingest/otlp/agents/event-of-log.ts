import { createHash } from "node:crypto";
import { completeEvent, endEvent, type CallEvent } from "../../../calls/events/call-event.ts";
import { storedId } from "../../../calls/events/completion.ts";
import { REPORT_RANKS } from "../../../calls/events/request-report.ts";
import { fromUnixNanos, parseInstant, readInstant, type EpochMicros } from "../../../shared/instant.ts";
import { isTooDeep, stringifyJson } from "../../../shared/json.ts";
import type { Project } from "../../../shared/project.ts";
import { readUsage } from "../../../usage/read-usage.ts";
import { toCount } from "../../../usage/to-count.ts";
import { textOf, type Attributes } from "../attributes.ts";
import type { OtelLogRecord } from "../log-record.ts";
import type { SpanOrigin } from "../span.ts";
import { unflatten } from "../unflatten.ts";
import { firstText } from "../usage-of-span.ts";
import { keptAttributes, sessionOf, userOf } from "./agent-attributes.ts";
import type { Agent, AgentEvent } from "./agent.ts";
import { agentOf } from "./agents.ts";
import { reportsOf } from "./request-reports.ts";
import { usageOfEvent } from "./usage-of-event.ts";

/** Sender and settings that a record is read with. */
export interface LogSender {
  readonly project: Project;
  /** Id of the API key. */
  readonly apiKey: string;
  /** True to keep prompts, tool arguments and outputs. */
  readonly keepsContent: boolean;
}

interface KnownEvent {
  readonly agent: Agent;
  /** Without prefix, with `_` for `.`. */
  readonly name: string;
  readonly event: AgentEvent;
}

/** A name, as opposed to a sentence, or a place in the source such as Codex sends. */
const NAME = /^[a-z][\w.-]*$/i;
const FAILURE = /(?:error|refusal|failed|failure|exhausted|cancel)$/;
const REASON = ["error.message", "error", "error_message"];
const KIND = ["error.type", "error_type", "status_code"];
const INPUTS =
  `prompt request_text arguments function_args tool_input tool_parameters gen_ai.input.messages`.split(" ");
const OUTPUT = ["output", "response", "response_text", "gen_ai.output.messages"];
const DURATION = ["duration_ms", "durationMs", "cursor.hook.duration_ms"];
const TRACE_ID = /^(?!0{32})[0-9a-f]{32}$/;
const SPAN_ID = /^(?!0{16})[0-9a-f]{16}$/;
const MAX_LENGTH = 512;

/**
 * Converts a log record of a known coding agent to a call event; `undefined` if it is ignored. Returns the reason, as text, if
 * it is rejected.
 */
export function eventOfLog(
  record: OtelLogRecord,
  origin: SpanOrigin,
  sender: LogSender,
): CallEvent | string | undefined {
  const known = recognise(record, origin);
  if (known === undefined) return undefined;
  const { agent, name, event } = known;
  const { attributes } = record;
  const usage = usageOfEvent(event, attributes, origin);
  const exception = exceptionOf(name, attributes, sender.keepsContent);
  if (event.is === "detail" && usage === undefined && exception === undefined) return undefined;
  const endedAt = timeOf(record);
  if (endedAt === undefined) return "a log record has no time, or one out of range";

  const hash = (...parts: readonly unknown[]): string => hashOf([sender.project, agent.name, ...parts]);
  const id = hash(typeof event.is === "object" ? event.is.twin : name, ...seedOf(event, attributes, endedAt));
  const traceId = TRACE_ID.test(record.traceId) ? record.traceId : "";
  const completionId = event.completionId === undefined ? "" : storedId(attributes.get(event.completionId));
  const reports = reportsOf(agent, { attributes, completionId, traceId }, "log");
  if (typeof event.is === "object")
    return completionId === "" ? undefined : endEvent({ id, completionId, reports });

  const session = sessionOf(agent, attributes);
  const turn = firstText(attributes, agent.turn ?? []);
  const { inputs, output } = contentOf(attributes, sender.keepsContent);
  if (isTooDeep(inputs) || isTooDeep(output)) return "a log record has attributes nested too deep";
  const start = {
    id,
    traceId: traceId || (session === null ? undefined : hash(session, turn)),
    parentId: traceId !== "" && SPAN_ID.test(record.spanId) ? record.spanId : undefined,
    opName: (event.op ?? agent.prefix.replaceAll("-", "_") + name).slice(0, MAX_LENGTH),
    startedAt: startOf(endedAt, attributes),
    threadId: session?.slice(0, MAX_LENGTH),
    turnId: turn?.slice(0, MAX_LENGTH),
    userId: userOf(origin.resource, attributes)?.slice(0, MAX_LENGTH),
    apiKey: sender.apiKey,
    attributes: unflatten(keptAttributes(agent, origin.resource, attributes)),
    inputs,
  };
  const counted = usage && {
    summary: { usage },
    usage: readUsage({ usage }),
    // else a twin may have set it
    completionId: completionId || undefined,
  };
  const end = { id, endedAt, output, exception, ...counted };
  if (event.is === "correction")
    return completeEvent(start, {
      ...end,
      reports: reports?.map((one) => ({ ...one, rank: REPORT_RANKS.gateway })),
    });
  const call = completeEvent(start, { ...end, reports: usage && reports });
  // a twin may have set it
  const { usage_source: _, ...columns } = call.columns;
  return { ...call, columns };
}

function recognise(record: OtelLogRecord, origin: SpanOrigin): KnownEvent | undefined {
  const sent = [record.attributes.get("event.name"), record.body, record.eventName];
  const names = sent.filter((one) => typeof one === "string" && NAME.test(one)) as string[];
  const agent = agentOf(origin, names);
  const named = agent && (names.find((one) => one.startsWith(agent.prefix)) ?? names[0]);
  if (agent === undefined || named === undefined) return undefined;
  const whole = named.startsWith(agent.prefix) ? named.slice(agent.prefix.length) : named;
  // Cursor repeats the kind of a correction in its name
  const name = whole.replaceAll(/[.-]/g, "_").replace(/^(api_correction)_.*/, "$1");
  const events = agent.events ?? {};
  return { agent, name, event: Object.hasOwn(events, name) ? events[name]! : {} };
}

/** Time of an event in microseconds; `undefined` if it has none, or one out of range. */
function timeOf({ attributes, atNanos, observedAtNanos }: OtelLogRecord): EpochMicros | undefined {
  const stated = textOf(attributes.get("event.timestamp")) ?? "";
  if (readInstant(stated) !== undefined) return parseInstant(stated);
  const nanos = atNanos === 0n ? observedAtNanos : atNanos;
  return nanos === 0n ? undefined : fromUnixNanos(nanos);
}

function startOf(endedAt: EpochMicros, attributes: Attributes): EpochMicros {
  const duration = toCount(firstText(attributes, DURATION)) * 1000;
  return fromUnixNanos(BigInt(endedAt - duration) * 1000n) ?? endedAt;
}

/** Text that identifies an event, however often and in which encoding it is sent. */
function seedOf({ seeds }: AgentEvent, attributes: Attributes, at: EpochMicros): readonly unknown[] {
  const names = seeds?.find((seed) => seed.every((name) => textOf(attributes.get(name)) !== null));
  const values = names?.map((name) => attributes.get(name)) ?? [
    at,
    ...[...attributes.keys()].toSorted().flatMap((name) => [name, attributes.get(name)]),
  ];
  return values.map((value) => textOf(value) ?? stringifyJson(value));
}

function hashOf(parts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}

/** The message of a failed request; of a failed tool only the kind of error, because its message can have content. */
function exceptionOf(name: string, attributes: Attributes, keepsContent: boolean): string | undefined {
  const hasFailed =
    FAILURE.test(name) || attributes.has("error.message") || textOf(attributes.get("success")) === "false";
  if (!hasFailed) return undefined;
  const isTool = /tool|hook/.test(name);
  return firstText(attributes, isTool && !keepsContent ? KIND : [...REASON, ...KIND]) ?? name;
}

function contentOf(
  attributes: Attributes,
  keepsContent: boolean,
): { readonly inputs?: object; readonly output?: unknown } {
  if (!keepsContent) return {};
  const inputs = INPUTS.filter((name) => attributes.get(name) != null).map((name) => [
    name,
    attributes.get(name),
  ]);
  const output = OUTPUT.map((name) => attributes.get(name)).find((value) => value != null);
  return { ...(inputs.length > 0 && { inputs: Object.fromEntries(inputs) as object }), output };
}
