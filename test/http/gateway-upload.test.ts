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
  // a process of its own, so that its memory is its own
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

async function residentMegabytes(): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`, { headers: bearer })).text();
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)![1]) / 2 ** 20;
}

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

/** Follows a stream of one event per 10 ms and tells the longest gap between two of them. */
async function longestGap(during: () => Promise<unknown>): Promise<number> {
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
  let [gap, parts] = [0, 0];
  const work = during();
  let over = false;
  void work.finally(() => (over = true));
  let last = performance.now();
  for await (const _part of response.body!) {
    gap = Math.max(gap, performance.now() - last);
    last = performance.now();
    parts++;
    if (over) break;
  }
  // the stream is longer than the work, and was followed to its end
  expect(over).toBe(true);
  expect(parts).toBeGreaterThan(3);
  await work;
  return gap;
}

describe(`a training body of ${MEGABYTES} MB`, () => {
  it("passes in flat memory, and streams beside it go on", { timeout: 120_000 }, async () => {
    const warmUp = upload();
    await write(warmUp, MEGABYTES);
    warmUp.destroy();
    upstream.forget();
    const before = await residentMegabytes();
    let peak = before;
    const gap = await longestGap(async () => {
      const sent = upload({ "content-length": String(MEGABYTES * MEGABYTE.length) });
      const answered = once(sent, "response") as Promise<[IncomingMessage]>;
      for (let n = 0; n < MEGABYTES; n += 10) {
        await write(sent, 10);
        peak = Math.max(peak, await residentMegabytes());
      }
      sent.end();
      const [response] = await answered;
      expect(response.statusCode).toBe(404);
      response.resume();
    });
    const seen = upstream.seen.filter((one) => one.bodyBytes > 2 * MEGABYTE.length);
    expect(seen.map((one) => one.bodyBytes)).toEqual([MEGABYTES * MEGABYTE.length]);
    // kept whole, it would be more than a hundred
    expect(peak - before).toBeLessThan(60);
    expect(gap).toBeLessThan(5000);
  });

  it(
    "is sent once, and its fate told, when the upstream resets in the middle",
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
    "that grows over the limit without having told its length is refused on the way",
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
