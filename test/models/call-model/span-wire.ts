import { encodeRequest, textAttribute, type SpanInit } from "../../helpers/otlp-request.ts";
import { micros } from "./answers.ts";
import type { CallName, Message } from "./messages.ts";

interface SpanMembers {
  readonly op_name: string;
  readonly started_at: string;
  readonly ended_at?: string;
  readonly parent_id?: CallName;
  readonly display_name?: string;
  readonly thread_id?: string;
  readonly inputs?: object;
  readonly output?: object;
  readonly summary?: { readonly usage: { readonly m: { readonly prompt_tokens: number } } };
}

/** A span as OTLP has it in JSON. */
interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue: string } }[];
}

/** One that can not be stored. */
export const SPAN_WITHOUT_IDS: Span = {
  traceId: "",
  spanId: "",
  parentSpanId: "",
  name: "no ids",
  startTimeUnixNano: "0",
  endTimeUnixNano: "0",
  attributes: [],
};

interface Ids {
  readonly trace: string;
  readonly id: (name: CallName) => string;
}

export function spanOf({ id, members }: Message, ids: Ids): Span {
  const said = members as unknown as SpanMembers;
  return {
    traceId: ids.trace,
    spanId: ids.id(id),
    parentSpanId: said.parent_id === undefined ? "" : ids.id(said.parent_id),
    name: said.op_name,
    startTimeUnixNano: nanos(said.started_at),
    endTimeUnixNano: said.ended_at === undefined ? "0" : nanos(said.ended_at),
    attributes: attributesOf({
      "wandb.display_name": said.display_name,
      "wandb.thread_id": said.thread_id,
      "input.value": said.inputs && JSON.stringify(said.inputs),
      "output.value": said.output && JSON.stringify(said.output),
      "gen_ai.response.model": said.summary && "m",
      "gen_ai.usage.input_tokens": said.summary && String(said.summary.usage.m.prompt_tokens),
    }),
  };
}

function attributesOf(texts: Readonly<Record<string, string | undefined>>): Span["attributes"] {
  return Object.entries(texts).flatMap(([key, text]) =>
    text === undefined ? [] : [{ key, value: { stringValue: text } }],
  );
}

function nanos(instant: string): string {
  return `${micros(instant)}000`;
}

/** A request with these spans: an object to be sent as JSON, or the bytes of protobuf. */
export function exportOf(
  spans: readonly Span[],
  { project, encoding }: { readonly project: string; readonly encoding: "json" | "protobuf" },
): object | Buffer {
  const resource = { "sumtree.project": project };
  if (encoding === "protobuf") return encodeRequest({ spans: spans.map(toProtobuf), resource });
  const scopeSpans = [{ spans }];
  return { resourceSpans: [{ resource: { attributes: attributesOf(resource) }, scopeSpans }] };
}

function toProtobuf(span: Span): SpanInit {
  return {
    traceId: Buffer.from(span.traceId, "hex"),
    spanId: Buffer.from(span.spanId, "hex"),
    parentSpanId: Buffer.from(span.parentSpanId, "hex"),
    name: span.name,
    startTimeUnixNano: BigInt(span.startTimeUnixNano),
    endTimeUnixNano: BigInt(span.endTimeUnixNano),
    attributes: span.attributes.map(({ key, value }) => textAttribute(key, value.stringValue)),
  };
}
