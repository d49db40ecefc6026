import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startReferenceUpstream, type ReferenceUpstream } from "../helpers/reference-upstream/server.ts";
import { startProcess, type ServiceProcess } from "../helpers/service-process.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { bearer } from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

const MEGABYTE = Buffer.alloc(1024 * 1024, "0123456789abcdef");
const MEGABYTES = 100;

const dir = mkdtempSync(join(tmpdir(), "sumtree-upload-"));
let upstream: ReferenceUpstream;
let service: ServiceProcess;
beforeAll(async () => {
  upstream = await startReferenceUpstream({ keepBytes: 4096 });
  service = await startProcess({
    DATA_DIR: dir,
    ROOT_API_KEY: ROOT_KEY,
    TRAINING_UPSTREAM_URL: upstream.url,
    TRAINING_BODY_LIMIT_BYTES: String((MEGABYTES + 1) * MEGABYTE.length),
  });
});
afterAll(async () => {
  await service.end("SIGTERM");
  await upstream.close();
  rmSync(dir, { recursive: true, force: true });
});
beforeEach(() => upstream.forget());

function upload(headers: Readonly<Record<string, string>> = {}): ClientRequest {
  const sent = httpRequest(`${service.url}/v1/preview/training-jobs`, {
    method: "POST",
    headers: { ...bearer, "content-type": "application/json", ...headers },
  });
  sent.on("error", () => undefined);
  return sent;
}

/** Writes at the pace at which it is taken; a connection that is gone takes everything. */
async function write(sent: ClientRequest, megabytes: number): Promise<void> {
  for (let n = 0; n < megabytes && !sent.destroyed; n++) {
    await new Promise<void>((resolve) => sent.write(MEGABYTE, () => resolve()));
  }
}

/** Follows a stream of one event per 10 ms until the work is done. */
async function streamDuring(during: () => Promise<unknown>): Promise<void> {
  const response = await fetch(`${service.url}/v1/chat/completions`, {
    method: "POST",
    headers: { ...bearer, "content-type": "application/json" },
    body: JSON.stringify({
      model: "m",
      stream: true,
      messages: [{ role: "user", content: "hi" }],
      max_tokens: 10_000,
      vllm_xargs: { delay_ms: 10 },
    }),
  });
  expect(response.status).toBe(200);
  let parts = 0;
  const work = during();
  let over = false;
  void work.finally(() => (over = true));
  for await (const _part of response.body!) {
    parts++;
    if (over) break;
  }
  // the stream is longer than the work, and was followed to its end
  expect(over).toBe(true);
  expect(parts).toBeGreaterThan(3);
  await work;
}

describe(`a training body of ${MEGABYTES} MB`, () => {
  it("passes completely, and concurrent streams continue", async () => {
    await streamDuring(async () => {
      const sent = upload({ "content-length": String(MEGABYTES * MEGABYTE.length) });
      const answered = once(sent, "response") as Promise<[IncomingMessage]>;
      await write(sent, MEGABYTES);
      sent.end();
      const [response] = await answered;
      expect(response.statusCode).toBe(404);
      response.resume();
    });
    const bytes = upstream.seen.map((one) => one.bodyBytes);
    expect(bytes).toContain(MEGABYTES * MEGABYTE.length);
  });

  it(
    "is sent once, and the error reported, if the upstream resets during it",
    { timeout: 60_000 },
    async () => {
      const sent = upload();
      const answered = once(sent, "response") as Promise<[IncomingMessage]>;
      const written = write(sent, 20).then(() => until(() => upstream.seen.length === 1));
      await written;
      upstream.dropConnections();
      await write(sent, MEGABYTES - 20);
      sent.end();
      const [response] = await answered;
      let text = "";
      for await (const part of response as AsyncIterable<Buffer>) text += part.toString();
      expect([response.statusCode, response.headers["x-should-retry"], JSON.parse(text)]).toMatchObject([
        502,
        "false",
        { error: { code: "upstream_broken" } },
      ]);
      expect(upstream.seen).toHaveLength(1);
    },
  );

  it(
    "of unknown length that exceeds the limit is rejected during the upload",
    { timeout: 60_000 },
    async () => {
      const sent = upload();
      const answered = once(sent, "response") as Promise<[IncomingMessage]>;
      await write(sent, MEGABYTES + 4);
      sent.end();
      const [response] = await answered;
      response.resume();
      expect(response.statusCode).toBe(413);
      expect(await upstream.seen[0]!.left).toBe(true);
    },
  );
});
