import { createHash } from "node:crypto";
import { isExactInteger, isJsonObject, stringifyJson } from "../../src/shared/json.ts";

type Json = Readonly<Record<string, unknown>>;

/** A call as `/calls/stream_query` answers it. */
export interface ReadCall extends Json {
  readonly id: string;
  readonly trace_id: string;
  readonly parent_id: string | null;
  readonly op_name: string;
  readonly display_name: string | null;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly exception: string | null;
  readonly attributes: Json;
  readonly inputs: Json;
  readonly output: unknown;
  readonly summary: Json;
}

const TRACE_ID = /^[0-9a-f]{32}$/;
const SPAN_ID = /^[0-9a-f]{16}$/;
const KINDS = ["unspecified", "internal", "server", "client", "producer", "consumer"];
const STATUSES = ["unset", "ok", "error"];
/** The first attribute that each member of the inputs is read from. */
const INPUTS: Readonly<Record<string, string>> = {
  system_instructions: "gen_ai.system_instructions",
  messages: "gen_ai.input.messages",
  arguments: "gen_ai.tool.call.arguments",
  query: "gen_ai.retrieval.query.text",
};
const OTHER_INPUTS = "traceloop.entity.input";
const OUTPUT = "gen_ai.output.messages";

/** Whether a call came as a span. */
export function wasSpan({ id, attributes: { otel } }: ReadCall): boolean {
  return SPAN_ID.test(id) && isJsonObject(otel) && isJsonObject(otel["scope"]);
}

/** The span that a call was made of, as OTLP's JSON, with its resource and scope: the same call is made of it again. */
export function spanOfCall(call: ReadCall): Json {
  const { otel: beside, ...own } = call.attributes as { readonly otel: Json };
  const {
    kind,
    status,
    resource,
    scope,
    events = [],
    links = [],
    ...named
  } = beside as {
    readonly kind: string;
    readonly status: string;
    readonly resource: Json;
    readonly scope: Json;
    readonly events?: readonly Json[];
    readonly links?: readonly Json[];
  };
  const { trace_id: trace, parent_id: parent, ended_at: ended, exception } = call;
  const span = {
    // a span in a call of the Weave SDK has the call's trace, which an attribute names
    traceId: TRACE_ID.test(trace) ? trace : createHash("md5").update(trace).digest("hex"),
    spanId: call.id,
    ...(parent !== null && SPAN_ID.test(parent) && { parentSpanId: parent }),
    name: call.op_name,
    kind: KINDS.indexOf(kind),
    startTimeUnixNano: nanos(call.started_at),
    ...(ended !== null && { endTimeUnixNano: nanos(ended) }),
    status: { code: STATUSES.indexOf(status), ...(exception !== null && { message: exception }) },
    attributes: attributesOf({ ...own, ...(isEmpty(named) ? {} : { otel: named }) }, payloadOf(call)),
    events: events.map(({ name, at, attributes }) => ({
      name,
      ...(typeof at === "string" && { timeUnixNano: nanos(at) }),
      attributes: attributesOf(attributes),
    })),
    links: links.map(({ trace_id: traceId, span_id: spanId, attributes }) => ({
      traceId,
      spanId,
      attributes: attributesOf(attributes),
    })),
  };
  return { resource: { attributes: attributesOf(resource) }, scopeSpans: [{ scope, spans: [span] }] };
}

function payloadOf({ inputs, output }: ReadCall): Json {
  const named = Object.entries(inputs).flatMap(([name, value]) => {
    const attribute = INPUTS[name];
    return attribute === undefined ? [] : [[attribute, asText(value)]];
  });
  return {
    ...Object.fromEntries(named),
    ...(!isEmpty(inputs) && { [OTHER_INPUTS]: stringifyJson(inputs) }),
    ...(output !== null && { [OUTPUT]: asText(output) }),
  };
}

const asText = (value: unknown): unknown =>
  typeof value === "object" && !isExactInteger(value) ? stringifyJson(value) : value;
const isEmpty = (object: Json): boolean => Object.keys(object).length === 0;

function attributesOf(nested: unknown, more: Json = {}): readonly Json[] {
  const entries = [...flat("", nested), ...Object.entries(more)];
  return entries.map(([key, value]) => ({ key, value: anyValue(value) }));
}

function flat(key: string, value: unknown): [string, unknown][] {
  if (!isJsonObject(value) || (isEmpty(value) && key !== "")) return [[key, value]];
  return Object.entries(value).flatMap(([name, below]) => flat(key === "" ? name : `${key}.${name}`, below));
}

function anyValue(value: unknown): Json {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (isExactInteger(value) || Number.isSafeInteger(value)) return { intValue: value };
  if (typeof value === "number") return { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } };
  if (!isJsonObject(value)) return {};
  const values = Object.entries(value).map(([key, below]) => ({ key, value: anyValue(below) }));
  return { kvlistValue: { values } };
}

/** Of an instant with up to six digits behind the second. */
function nanos(instant: string): string {
  const [, seconds, micros = ""] = /^(.*?)(?:\.(\d+))?Z$/.exec(instant)!;
  return `${BigInt(Date.parse(`${seconds}Z`)) * 1_000_000n + BigInt(micros.padEnd(9, "0"))}`;
}
