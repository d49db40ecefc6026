import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { taskOf } from "./in-child.ts";
import { headersOf, type Target } from "./send.ts";

export interface ReadTask extends Target {
  readonly path: string;
  readonly body: object;
  /** The speed at which this client reads. */
  readonly bytesPerMs: number;
}

export interface ReadResult {
  readonly bytes: number;
  readonly elapsedMs: number;
}

const task = taskOf<ReadTask>();
const began = performance.now();
const body = Buffer.from(JSON.stringify(task.body));
const sent = request(task.url + task.path, { method: "POST", headers: headersOf(task, body.length) });
sent.end(body);
const [response] = (await once(sent, "response")) as [IncomingMessage];
if (response.statusCode !== 200) throw new Error(`${task.path} answered ${response.statusCode}`);
let bytes = 0;
for await (const chunk of response) {
  bytes += (chunk as Buffer).length;
  const early = bytes / task.bytesPerMs - (performance.now() - began);
  if (early > 1) await delay(early);
}
const result: ReadResult = { bytes, elapsedMs: performance.now() - began };
process.stdout.write(JSON.stringify(result), () => process.exit());
