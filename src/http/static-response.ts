import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import Negotiator from "negotiator";

const ENCODINGS = ["br", "gzip", "identity"] as const;
type Encoding = (typeof ENCODINGS)[number];

export interface StaticContent {
  readonly type: string;
  readonly cacheControl: string;
  readonly bytesIn: (encoding: Encoding) => Promise<Buffer>;
}

type Send = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** Options of static routes, which compress once, not per request. */
export const staticRoute = { config: { access: "public" }, exposeHeadRoute: true, compress: false } as const;

/** Sends static content, encoded once at the first request for each encoding. */
export function staticResponse({ type, cacheControl, bytesIn }: StaticContent): Send {
  const made = new Map<Encoding, Promise<{ readonly bytes: Buffer; readonly etag: string }>>();
  const make = async (encoding: Encoding) => {
    const bytes = await bytesIn(encoding);
    return { bytes, etag: `"${createHash("sha256").update(bytes).digest("base64url")}"` };
  };
  return async (request, reply) => {
    const encoding = encodingFor(request);
    let answer = made.get(encoding);
    if (answer === undefined) {
      answer = make(encoding);
      made.set(encoding, answer);
      answer.catch(() => made.delete(encoding));
    }
    const { bytes, etag } = await answer;
    void reply.headers({ "cache-control": cacheControl, etag }).header("vary", varying(reply));
    if (names(request.headers["if-none-match"], etag)) return reply.code(304).send();
    if (encoding !== "identity") void reply.header("content-encoding", encoding);
    return reply.type(type).send(bytes);
  };
}

/** Creates a response in each encoding, small rather than fast, because it is done once. */
export function compressed(read: () => Promise<Buffer> | Buffer): StaticContent["bytesIn"] {
  return async (encoding) => {
    const bytes = await read();
    if (encoding === "identity") return bytes;
    return encoding === "gzip" ? gzipped(bytes, { level: 9 }) : brotlied(bytes, small);
  };
}

/** Creates a response from a file compressed at build time. */
export function builtFile(path: string): StaticContent["bytesIn"] {
  const ending = { br: ".br", gzip: ".gz", identity: "" };
  return (encoding) => readFile(path + ending[encoding]);
}

const gzipped = promisify(gzip);
const brotlied: (bytes: Buffer, options: object) => Promise<Buffer> = promisify(brotliCompress);
/** Brotli quality; the best takes seconds per megabyte. */
const small = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

/** Selects the smallest encoding that the client accepts; identity without `Accept-Encoding`. */
function encodingFor({ headers }: FastifyRequest): Encoding {
  if (headers["accept-encoding"] === undefined) return "identity";
  const accepted = new Negotiator({ headers }).encodings([...ENCODINGS]);
  return ENCODINGS.find((encoding) => accepted.includes(encoding)) ?? "identity";
}

function varying(reply: FastifyReply): string {
  const others = reply.getHeader("vary");
  return others === undefined ? "accept-encoding" : `${String(others)}, accept-encoding`;
}

function names(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(",").some((one) => ["*", etag].includes(one.trim().replace(/^W\//, "")));
}
