import { createHash } from "node:crypto";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { StorageError } from "../../src/store/storage-error.ts";
import { interceptStatements } from "../helpers/intercept-statements.ts";
import { isLong } from "../helpers/runs.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";

const PROJECT = "acme/lines";
const CALLS = 2500;
const TEXT_CHARACTERS = 2000;
const NEWLINE = 0x0a;

const decoders = { br: createBrotliDecompress, gzip: createGunzip, deflate: createInflate };
type Encoding = keyof typeof decoders;
const encodings = (isLong ? Object.keys(decoders) : ["gzip"]) as Encoding[];

let test: TestApp;
let url: string;
/** Before each reading of calls. */
let beforeReading: (signal: AbortSignal | undefined) => Promise<void> = async () => {};

beforeAll(async () => {
  test = await startApp({
    wrapEngine: (engine) =>
      interceptStatements(engine, async (name, run, signal) => {
        if (name === "calls_read") await beforeReading(signal);
        return await run();
      }),
  });
  url = await test.app.listen({ host: "127.0.0.1", port: 0 });
  const calls = Array.from({ length: CALLS }, (_, at) => ({
    id: `c${at}`,
    trace_id: "t",
    op_name: "op",
    started_at: new Date(Date.parse("2026-11-20T12:00:00Z") + at).toISOString(),
    ended_at: "2026-11-20T13:00:00Z",
    attributes: {},
    // what cannot be made much smaller
    inputs: { text: noise(at, TEXT_CHARACTERS) },
  }));
  for (let from = 0; from < CALLS; from += 1000) {
    const batch = calls.slice(from, from + 1000);
    expect((await test.post(`/v2/${PROJECT}/calls/complete`, { batch })).json()).toEqual({ rejected: [] });
  }
});
afterAll(() => test.close());

/** Letters in an order that a number decides. */
function noise(from: number, characters: number): string {
  const bytes = createHash("shake256", { outputLength: characters }).update(String(from)).digest("base64");
  return bytes.slice(0, characters);
}

interface Sent {
  readonly response: IncomingMessage;
  /** As it was before it was compressed. */
  readonly body: Readable;
  readonly leave: () => void;
}

async function ask(path: string, encoding: Encoding | "identity", body: object): Promise<Sent> {
  const asked = request(`${url}${path}`, {
    method: "POST",
    headers: {
      authorization: authorization(),
      "content-type": "application/json",
      "accept-encoding": encoding,
    },
  });
  asked.end(JSON.stringify({ project_id: PROJECT, ...body }));
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  const decoder = encoding === "identity" ? undefined : decoders[encoding]();
  if (decoder !== undefined) pipeline(response, decoder, () => {});
  return { response, body: decoder ?? response, leave: () => asked.destroy() };
}

async function textOf(body: Readable): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of body) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

const routes = [
  { path: "/calls/stream_query", question: {} },
  { path: "/trace/calls", question: { trace_id: "t" } },
];

describe.each(encodings)("JSON lines for clients that accept %s", (encoding) => {
  it.each(routes)("are equal to uncompressed ones: $path", async ({ path, question }) => {
    const plain = await ask(path, "identity", question);
    expect(plain.response.headers["content-encoding"]).toBeUndefined();
    const packed = await ask(path, encoding, question);
    expect(packed.response.headers).toMatchObject({
      "content-encoding": encoding,
      "content-type": "application/x-ndjson; charset=utf-8",
      vary: expect.stringMatching(/accept-encoding/i),
    });
    const lines = (await textOf(packed.body)).split("\n");
    expect(lines.length).toBeGreaterThan(CALLS);
    expect(lines).toEqual((await textOf(plain.body)).split("\n"));
  });

  it("arrive as they are read: complete lines can be read before the rest", async () => {
    let [readings, read] = [0, () => {}];
    const rest = new Promise<void>((done) => (read = done));
    beforeReading = async () => {
      if (++readings > 2) await rest;
    };
    const { body } = await ask("/calls/stream_query", encoding, {});
    let lines = 0;
    for await (const piece of body as AsyncIterable<Buffer>) {
      lines += piece.toString("latin1").split("\n").length - 1;
      // the whole of what was read, to its last line
      if (lines > 1000 && piece.at(-1) === NEWLINE) read();
    }
    expect(lines).toBe(CALLS);
    beforeReading = async () => {};
  });

  it("are aborted if the store fails, and never look complete", async () => {
    let readings = 0;
    beforeReading = async () => {
      if (++readings > 2) throw new StorageError("unavailable", "calls_read", undefined, "the store is away");
    };
    const { response, body } = await ask("/calls/stream_query", encoding, {});
    expect(response.statusCode).toBe(200);
    await expect(textOf(body)).rejects.toThrow();
    beforeReading = async () => {};
  });

  it("are not read further once the client has left", async () => {
    let readings = 0;
    let ended: AbortSignal | undefined;
    beforeReading = async (signal) => {
      readings++;
      ended = signal;
    };
    const { body, leave } = await ask("/calls/stream_query", encoding, { limit: CALLS });
    await once(body, "readable");
    leave();
    await expect.poll(() => ended?.aborted).toBe(true);
    expect(readings).toBeGreaterThan(0);
    beforeReading = async () => {};
  });
});
