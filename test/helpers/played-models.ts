import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib";

import { answerOf, COUNTS, type Answer, type Counts, type Json } from "./reference-upstream/models.ts";

/** How an answer is sent. */
export interface Sending {
  readonly counts: Counts;
  readonly encoding?: "gzip" | "br" | "zstd" | undefined;
  /** Lengths of the first writes; the last one is repeated. */
  readonly writes: readonly number[];
  /** So many bytes more are in one of its events, or in its body. */
  readonly padding?: number;
  /** The connection is reset behind so much of the answer, between 0 and 1. */
  readonly cutAt?: number | undefined;
}

/** A request as it came, and the bytes of its answer that were sent. */
export interface Played {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Json;
  readonly answer: Answer;
  readonly bytes: Buffer;
}

export interface PlayedModels {
  /** Ending in `/v1`. */
  readonly url: string;
  readonly seen: Played[];
  /** How the answer to the request with this `x-client-request-id` is sent. */
  plan(id: string, sending: Sending): void;
  close(): Promise<void>;
}

const packers = { gzip: gzipSync, br: brotliCompressSync, zstd: zstdCompressSync } as const;

/** In the middle of a stream, or else in the body. */
function padded(pieces: readonly string[], bytes: number): readonly string[] {
  if (bytes === 0) return pieces;
  const at = Math.floor(pieces.length / 2);
  return pieces.with(at, pieces[at]!.replace("{", `{"padding":"${"x".repeat(bytes)}",`));
}

/** A provider with the endpoints of OpenAI and Anthropic, with known usage. */
export async function playModels(): Promise<PlayedModels> {
  const seen: Played[] = [];
  const plans = new Map<string, Sending>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts: Buffer[] = [];
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
    const sentBody = Buffer.concat(parts).toString();
    // of a form, only whether it asks for a stream
    const isForm = !sentBody.startsWith("{");
    const body = isForm ? { stream: sentBody.includes('name="stream"') } : (JSON.parse(sentBody) as Json);
    const path = request.url ?? "";
    const id = String(request.headers["x-client-request-id"]);
    const {
      counts,
      encoding,
      writes,
      cutAt,
      padding = 0,
    }: Sending = plans.get(id) ?? { counts: COUNTS, writes: [2 ** 20] };
    const one = answerOf(path.split("?", 1)[0]!.slice("/v1".length), body, counts)!;
    const plain = Buffer.from(padded(one.pieces, padding).join(""));
    const bytes = encoding === undefined ? plain : packers[encoding](plain);
    const sent = bytes.subarray(0, cutAt === undefined ? bytes.length : Math.floor(cutAt * bytes.length));
    seen.push({ path, headers: request.headers, body, answer: one, bytes: sent });
    response.writeHead(200, {
      "content-type": one.type,
      "request-id": "req_played",
      ...(encoding === undefined ? {} : { "content-encoding": encoding }),
    });
    response.flushHeaders();
    for (let at = 0, turn = 0; at < sent.length; turn++) {
      const size = writes[Math.min(turn, writes.length - 1)]!;
      const part = sent.subarray(at, at + size);
      await new Promise<void>((resolve) => response.write(part, () => setImmediate(resolve)));
      at += size;
    }
    if (cutAt === undefined) response.end();
    else {
      // what was written before must have left
      await delay(20);
      response.socket?.resetAndDestroy();
    }
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    seen,
    plan: (id, sending) => void plans.set(id, sending),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
