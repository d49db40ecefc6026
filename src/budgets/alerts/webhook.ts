import { createHmac } from "node:crypto";
import type { Clock } from "../../shared/clock.ts";
import { slackMessageJson } from "./alert-event.ts";
import { retryAfterMs } from "./retry-schedule.ts";

export interface WebhookSettings {
  readonly url: string;
  /** Each `whsec_` and base64. Every one signs, so that receivers can change theirs. */
  readonly secrets: readonly string[];
  readonly format: "standard" | "slack";
}

export interface Attempt {
  /** 410 is `gone`: there must be no other attempt. */
  readonly result: "delivered" | "gone" | "failed";
  /** HTTP status or error code, never the URL. */
  readonly problem: string;
  readonly retryAfterMs: number;
}

export type SendAlert = (id: string, eventJson: string, signal: AbortSignal) => Promise<Attempt>;

const TIMEOUT_MS = 15_000;
const GONE = 410;
const BUSY = [429, 502, 503, 504];

/** Sends events as Standard Webhooks. Never rejects. */
export function createWebhook({ url, secrets, format }: WebhookSettings, clock: Clock): SendAlert {
  return async (id, eventJson, closing) => {
    const body = format === "slack" ? slackMessageJson(eventJson) : eventJson;
    const timestamp = String(Math.floor(clock.now() / 1000));
    const signatures = secrets.map((secret) => signatureOf(secret, `${id}.${timestamp}.${body}`));
    const headers = {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      ...(signatures.length > 0 && { "webhook-signature": signatures.join(" ") }),
    };
    const signal = AbortSignal.any([closing, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      const response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal });
      await response.body?.cancel();
      return attemptOf(response, clock.now());
    } catch (error) {
      return { result: "failed", problem: problemOf(error), retryAfterMs: 0 };
    }
  };
}

function attemptOf({ status, ok, headers }: Response, nowMs: number): Attempt {
  const asked = BUSY.includes(status) ? retryAfterMs(headers.get("retry-after"), nowMs) : 0;
  const failed = status === GONE ? "gone" : "failed";
  return { result: ok ? "delivered" : failed, problem: String(status), retryAfterMs: asked };
}

function signatureOf(secret: string, content: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  return `v1,${createHmac("sha256", key).update(content).digest("base64")}`;
}

/** Returns the code of a network error, else its name: messages can contain the URL. */
function problemOf(error: unknown): string {
  const { name, cause } = error as Error & { cause?: { code?: unknown } };
  return typeof cause?.code === "string" ? cause.code : name;
}
