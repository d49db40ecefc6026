import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Transform } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import { afterAll, beforeAll, expect, test as it } from "vitest";
import { fillCalls } from "../../bench/sample-calls.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";

const PROJECT = "acme/long";
const CALLS = 20_000;
const body = JSON.stringify({ project_id: PROJECT, limit: 1_000_000, include_costs: true });

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  br: createBrotliDecompress,
};

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
  await fillCalls(test.engine, { project: PROJECT, calls: CALLS, callsPerTrace: 4000 });
  await test.app.listen({ port: 0, host: "127.0.0.1" });
});
afterAll(() => test.close());

/** Reads with pauses, so that the service writes the next piece while the one before is still on its way. */
async function readSlowly(headers: Readonly<Record<string, string>>): Promise<string> {
  const { port } = test.app.server.address() as AddressInfo;
  const sent = request({
    port,
    host: "127.0.0.1",
    path: "/trace/usage",
    method: "POST",
    headers: { ...headers, authorization: authorization(), "content-type": "application/json" },
  });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const coding = response.headers["content-encoding"] ?? "identity";
  expect(coding).toBe(headers["accept-encoding"] ?? "identity");
  const text = coding === "identity" ? response : response.pipe(DECODERS[coding]!());
  const chunks: Buffer[] = [];
  for await (const chunk of text) {
    chunks.push(chunk as Buffer);
    for (let turn = 0; turn < 20; turn++) await setImmediate();
  }
  return Buffer.concat(chunks).toString();
}

it.each([{}, { "accept-encoding": "gzip" }, { "accept-encoding": "br" }])(
  "a long answer arrives as it was made, %o",
  async (headers) => {
    const whole = (await test.post("/trace/usage", JSON.parse(body) as object)).text;
    const slow = await readSlowly(headers);
    expect(Object.keys((JSON.parse(slow) as { call_usage: object }).call_usage)).toHaveLength(CALLS);
    expect(slow === whole).toBe(true);
  },
);

it.each([
  [1500, "whole"],
  [3500, "streamed"],
])("an answer of %d calls is sent %s: below a mebibyte it is no stream", async (limit, how) => {
  const { port } = test.app.server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/trace/usage`, {
    method: "POST",
    headers: {
      authorization: authorization(),
      "content-type": "application/json",
      "accept-encoding": "identity",
    },
    body: JSON.stringify({ project_id: PROJECT, limit }),
  });
  const { call_usage } = (await answer.json()) as { call_usage: object };
  expect(Object.keys(call_usage)).toHaveLength(limit);
  expect(answer.headers.get("transfer-encoding")).toBe(how === "streamed" ? "chunked" : null);
});
