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

/** Options of static routes: nothing is compressed per request. */
export const staticRoute = { config: { access: "public" }, exposeHeadRoute: true, compress: false } as const;

/** Sends what is the same for everybody. The first to ask for an encoding has it made, and all others get the same bytes. */
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

/** The text in each encoding. Small rather than fast, because it is done once. */
export function compressed(read: () => Promise<Buffer> | Buffer): StaticContent["bytesIn"] {
  return async (encoding) => {
    const bytes = await read();
    if (encoding === "identity") return bytes;
    return encoding === "gzip" ? gzipped(bytes, { level: 9 }) : brotlied(bytes, small);
  };
}

/** A file that was compressed when it was built. */
export function builtFile(path: string): StaticContent["bytesIn"] {
  const ending = { br: ".br", gzip: ".gz", identity: "" };
  return (encoding) => readFile(path + ending[encoding]);
}

const gzipped = promisify(gzip);
const brotlied: (bytes: Buffer, options: object) => Promise<Buffer> = promisify(brotliCompress);
/** The best quality takes seconds for a megabyte. */
const small = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

/** The smallest that the client accepts. Without a word about it, what every client can read. */
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
