import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** Trace id and parent call id of a completion. */
export interface TraceContext {
  readonly traceId: string;
  readonly parentId: string | null;
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-|$)/;
const SANE_ID = /^[\w.:/+=@-]{1,256}$/;

/**
 * Reads the trace context; `x-sumtree-*` headers override `traceparent`. Invalid ids are ignored, because accounting never
 * rejects a completion. Source: https://www.w3.org/TR/trace-context/
 */
export function readTraceContext(headers: IncomingHttpHeaders): TraceContext {
  const traceId = saneId(headers["x-sumtree-trace-id"]);
  if (traceId !== undefined) return { traceId, parentId: saneId(headers["x-sumtree-parent-id"]) ?? null };

  const traceparent = headers["traceparent"];
  const match = typeof traceparent === "string" ? TRACEPARENT.exec(traceparent.trim().toLowerCase()) : null;
  const [, trace, parent] = match ?? [];
  if (trace === undefined || parent === undefined) {
    return { traceId: randomUUID().replaceAll("-", ""), parentId: null };
  }
  return { traceId: trace, parentId: saneId(headers["x-sumtree-parent-id"]) ?? parent };
}

function saneId(value: string | string[] | undefined): string | undefined {
  return typeof value === "string" && SANE_ID.test(value) ? value : undefined;
}
