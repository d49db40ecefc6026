import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { assertNever } from "../../../src/shared/assert-never.ts";

/** Everything an upstream is known to do wrong, or merely differently. */
export type Fault =
  /** An answer of any kind, e.g. the HTML of an edge server under 524. */
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly body: string | Uint8Array;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** The connection is reset before the head of the answer. */
  | { readonly kind: "reset" }
  /** No byte of an answer for so long; then it goes on as usual. */
  | { readonly kind: "silence"; readonly ms: number }
  /** A stream stops for so long after some of its events. */
  | { readonly kind: "stall"; readonly afterEvents: number; readonly ms: number }
  /** A stream ends too early: by a reset, in good order, or in the middle of an event. */
  | { readonly kind: "cut"; readonly afterEvents: number; readonly how: "reset" | "clean" | "mid_event" }
  /** Exactly these bytes as the body, one write each; a number is a pause in milliseconds. */
  | {
      readonly kind: "bytes";
      readonly chunks: Iterable<string | Uint8Array | number | Promise<unknown>>;
      readonly headers?: Readonly<Record<string, string>>;
      readonly ending: "end" | "reset" | "hang";
    }
  /** All jobs are gone; the request goes on. */
  | { readonly kind: "forget_jobs" }
  /** Writes these bytes to the socket instead of HTTP. */
  | { readonly kind: "socket"; readonly bytes: string };

/** Plays a fault that replaces the answer; false when the answer is to go on. */
export async function playFault(fault: Fault | undefined, response: ServerResponse): Promise<boolean> {
  if (fault === undefined) return false;
  switch (fault.kind) {
    case "answer":
      response.writeHead(fault.status, { "content-type": "application/json", ...fault.headers });
      response.end(fault.body);
      return true;
    case "reset":
      response.socket?.resetAndDestroy();
      return true;
    case "silence":
      await delay(fault.ms, undefined, { ref: false });
      return response.destroyed;
    case "bytes":
      await playBytes(fault, response);
      return true;
    case "socket":
      response.socket?.end(fault.bytes);
      return true;
    case "stall":
    case "cut":
    case "forget_jobs":
      return false;
    default:
      return assertNever(fault);
  }
}

async function playBytes(fault: Extract<Fault, { kind: "bytes" }>, response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", ...fault.headers });
  response.flushHeaders();
  for (const chunk of fault.chunks) {
    if (chunk instanceof Promise) await chunk;
    else if (typeof chunk === "number") await delay(chunk, undefined, { ref: false });
    else await new Promise<void>((resolve) => response.write(chunk, () => setImmediate(resolve)));
  }
  if (fault.ending === "end") response.end();
  if (fault.ending === "reset") response.socket?.resetAndDestroy();
}

/** Writes the events of a stream, with what may befall it on the way. */
export async function writeEvents(
  response: ServerResponse,
  events: readonly string[],
  { fault, delayMs }: { fault: Fault | undefined; delayMs: number },
): Promise<void> {
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
  });
  response.flushHeaders();
  for (const [at, event] of events.entries()) {
    if (response.destroyed) return;
    if (fault?.kind === "stall" && at === fault.afterEvents) await delay(fault.ms, undefined, { ref: false });
    if (fault?.kind === "cut" && at === fault.afterEvents) return cut(response, event, fault.how);
    response.write(event);
    if (delayMs > 0) await delay(delayMs, undefined, { ref: false });
  }
  response.end();
}

function cut(response: ServerResponse, next: string, how: "reset" | "clean" | "mid_event"): void {
  if (how === "clean") return void response.end();
  const reset = (): void => void response.socket?.resetAndDestroy();
  // what was written before must have left, or the reset takes it along
  if (how === "mid_event")
    response.write(next.slice(0, Math.floor(next.length / 2)), () => setTimeout(reset, 20));
  else setTimeout(reset, 20);
}
