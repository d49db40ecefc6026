import { AppError } from "../../shared/errors.ts";
import type { SecretMask } from "../../shared/secret-mask.ts";
import { decompressBody } from "../decompress-body.ts";
import { readableError } from "../apis/error-in-response.ts";
import type { OutHeaders } from "./downstream.ts";

export interface Head {
  readonly status: number;
  readonly headers: OutHeaders;
}

export interface HeldBody extends Head {
  readonly body: Buffer;
}

/**
 * Rewrite of whole successful responses. Returns the same buffer if nothing changes. Errors: what the client gets instead of
 * the response.
 */
export type ResponseRewrite = (body: Buffer) => Promise<Buffer>;

export const OF_JSON = { "content-type": "application/json" };
const MAX_ERROR_BYTES = 1024 * 1024;
const MAX_BYTES = 16 * 1024 * 1024;
/** Headers that describe the bytes as the upstream sent them. */
const OF_BYTES: ReadonlySet<string> = new Set([
  "content-encoding",
  "content-digest",
  "content-md5",
  "digest",
  "etag",
]);

/**
 * Reads an upstream's error, masks secrets in it and, if `wraps`, converts it to a format SDKs read. Throws upstream_invalid if
 * it is too large or cannot be decompressed.
 */
export async function readError(
  head: Head,
  body: AsyncIterable<Buffer>,
  { wraps, mask }: { wraps: boolean; mask: SecretMask },
): Promise<HeldBody & { readonly text: string }> {
  const { sent, plain } = await readWhole(head, body, { maxBytes: MAX_ERROR_BYTES });
  const masked = mask.bytes(plain);
  const shown = (wraps ? readableError(head.status, masked) : undefined) ?? masked;
  const text = shown.toString("utf8");
  if (shown.equals(plain)) return { ...head, body: sent, text };
  return { ...withBody(head, shown, wraps ? OF_JSON : {}), text };
}

/** Reads and rewrites a successful response. Throws upstream_invalid if it is too large or cannot be decompressed. */
export async function readRewritten(
  head: Head,
  body: AsyncIterable<Buffer>,
  { rewrite, hold }: { rewrite: ResponseRewrite; hold: (bytes: number) => void },
): Promise<HeldBody> {
  const { sent, plain } = await readWhole(head, body, { maxBytes: MAX_BYTES, hold });
  const rewritten = await rewrite(plain);
  return rewritten === plain ? { ...head, body: sent } : withBody(head, rewritten);
}

async function readWhole(
  { headers }: Head,
  body: AsyncIterable<Buffer>,
  { maxBytes, hold }: { maxBytes: number; hold?: (bytes: number) => void },
): Promise<{ readonly sent: Buffer; readonly plain: Buffer }> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body) {
    hold?.(part.length);
    bytes += part.length;
    if (bytes > maxBytes) throw unreadable(maxBytes);
    parts.push(part);
  }
  const sent = Buffer.concat(parts, bytes);
  const plain = decompressBody(headers["content-encoding"], sent, maxBytes);
  if (plain === undefined) throw unreadable(maxBytes);
  return { sent, plain };
}

/** Replaces the body of a response. */
export function withBody({ status, headers }: Head, body: Buffer, more: OutHeaders = {}): HeldBody {
  const kept = Object.entries(headers).filter(([name]) => !OF_BYTES.has(name));
  const length = { "content-length": String(body.length) };
  return { status, body, headers: { ...Object.fromEntries(kept), ...more, ...length } };
}

function unreadable(maxBytes: number): AppError {
  return new AppError("upstream_invalid", `The upstream's response cannot be read within ${maxBytes} bytes.`);
}
