import { createHash } from "node:crypto";
import { assertNever } from "../../../src/shared/assert-never.ts";
import { isSpan } from "./answers.ts";
import { TRACELESS, type CallName, type Members, type Message } from "./messages.ts";
import { exportOf, SPAN_WITHOUT_IDS, spanOf } from "./span-wire.ts";
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
export function toWire(request: Request, where: Where): { url: string; body: object | Buffer } {
  const { project, lane } = where;
  const inBatch = (items: readonly object[]): readonly object[] =>
    "brokenAt" in request && request.brokenAt !== undefined
      ? items.toSpliced(request.brokenAt, 0, BROKEN)
      : items;
  switch (request.form) {
    case "single": {
      const { kind } = request.message;
      const { project_id, ...members } = membersOf(request.message, where);
      const body = { [kind]: request.route === "v2 alone" ? members : { project_id, ...members } };
      return { url: request.route === "legacy" ? `/call/${kind}` : `/v2/${project}/call/${kind}`, body };
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
      const spans = request.messages.map((one) =>
        spanOf(one, { trace: traceOf(lane, one.id), id: (name) => idOf(lane, name) }),
      );
      const { brokenAt, encoding } = request;
      if (brokenAt !== undefined) spans.splice(brokenAt, 0, SPAN_WITHOUT_IDS);
      return { url: "/otel/v1/traces", body: exportOf(spans, { project, encoding }) };
    }
    default:
      return assertNever(request);
  }
}

/** An item of a batch that cannot be stored. */
const BROKEN = { mode: "start", req: { start: {} }, name: "no ids" };

function membersOf(
  { kind, id, members }: Message,
  { project, lane }: Where,
): Members & { readonly project_id: string } {
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
