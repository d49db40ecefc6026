import { parseOrUndefined } from "../../shared/json.ts";
import type { Target } from "../upstreams.ts";
import { targetUnder } from "./upstream-path.ts";

export interface FetchOptions {
  readonly requestId: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Status and body of a response; its body is undefined if it is not JSON. */
export interface FetchedJson {
  readonly status: number;
  readonly body: unknown;
}

/** Requests a path with the operator's credential. Never rejects: `undefined` if it fails or takes too long. */
export async function fetchJson(
  { upstream, credential }: Target,
  under: string,
  { requestId, headers, maxBytes, timeoutMs, signal }: FetchOptions,
): Promise<FetchedJson | "too_long" | undefined> {
  const call = upstream.send({
    method: "GET",
    path: targetUnder(upstream.base, under),
    headers: {
      accept: "application/json",
      "accept-encoding": "identity",
      "x-request-id": requestId,
      ...headers,
      ...(credential === undefined ? {} : { [credential.header]: credential.value }),
    },
    body: null,
  });
  const abort = (): void => call.abort();
  const timer = setTimeout(abort, timeoutMs);
  signal?.addEventListener("abort", abort);
  try {
    const { status, body } = await call.response;
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > maxBytes) return "too_long";
      chunks.push(chunk);
    }
    return { status, body: parseOrUndefined(Buffer.concat(chunks).toString("utf8")) };
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}
