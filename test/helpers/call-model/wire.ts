import { createHash } from "node:crypto";
import { assertNever } from "../../../src/shared/assert-never.ts";
import { isSpan, micros } from "./answers.ts";
import { TRACELESS, type CallName, type Message } from "./messages.ts";
import type { Request } from "./steps.ts";

/** Which calls are meant: lanes share a project. */
export interface Where {
  readonly project: string;
  readonly lane: string;
}

/** The ids of a lane. Those of spans are hex, as OpenTelemetry wants them. */
export function idOf(lane: string, name: CallName): string {
  return isSpan(name) ? hexOf(lane, 8) + hexOf(name, 8) : `${lane}.${name}`;
}

export function traceOf(lane: string, name: CallName): string {
  return isSpan(name) ? hexOf(lane, 32) : `${lane}.trace`;
}

function hexOf(text: string, length: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, length);
}

/** A request as it goes over the wire. */
export function toWire(request: Request, where: Where): { url: string; body: object } {
  const { project, lane } = where;
  const inBatch = (items: readonly object[]): readonly object[] =>
    "brokenAt" in request && request.brokenAt !== undefined
      ? items.toSpliced(request.brokenAt, 0, BROKEN)
      : items;
  switch (request.form) {
    case "single": {
      const { kind } = request.message;
      const url = request.route === "v2" ? `/v2/${project}/call/${kind}` : `/call/${kind}`;
      return { url, body: { [kind]: membersOf(request.message, where) } };
    }
    case "batch": {
      const items = request.messages.map((one) => ({
        mode: one.kind,
        req: { [one.kind]: membersOf(one, where) },
      }));
      return { url: "/call/upsert_batch", body: { batch: inBatch(items) } };
    }
    case "complete": {
      const batch = inBatch(request.messages.map((one) => membersOf(one, where)));
      return { url: `/v2/${project}/calls/complete`, body: { batch } };
    }
    case "update": {
      const { id, members } = request.message;
      return {
        url: "/call/update",
        body: { project_id: project, call_id: idOf(lane, id), ...members },
      };
    }
    case "delete": {
      const call_ids = request.ids.map((id) => idOf(lane, id));
      return { url: "/calls/delete", body: { project_id: project, call_ids } };
    }
    case "spans": {
      const resource = { attributes: attributesOf({ "sumtree.project": project }) };
      const spans = inBatch(request.messages.map((one) => spanOf(one, lane)));
      return { url: "/otel/v1/traces", body: { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] } };
    }
    default:
      return assertNever(request);
  }
}

/** An item of a batch that can not be stored. */
const BROKEN = { mode: "start", req: { start: {} }, name: "no ids" };

function membersOf({ kind, id, members }: Message, { project, lane }: Where): object {
  const parent = members["parent_id"] as CallName | "" | null | undefined;
  const namesTrace = kind !== "end" && !isTraceless(id);
  return {
    project_id: project,
    id: idOf(lane, id),
    ...(namesTrace && { trace_id: traceOf(lane, id) }),
    ...members,
    ...(parent && { parent_id: idOf(lane, parent) }),
  };
}

export function isTraceless(name: CallName): boolean {
  return (TRACELESS as readonly string[]).includes(name);
}

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

function spanOf({ id, members }: Message, lane: string): object {
  const said = members as unknown as SpanMembers;
  return {
    traceId: traceOf(lane, id),
    spanId: idOf(lane, id),
    parentSpanId: said.parent_id === undefined ? "" : idOf(lane, said.parent_id),
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

function attributesOf(texts: Readonly<Record<string, string | undefined>>): object[] {
  return Object.entries(texts).flatMap(([key, text]) =>
    text === undefined ? [] : [{ key, value: { stringValue: text } }],
  );
}

function nanos(instant: string): string {
  return `${micros(instant)}000`;
}
