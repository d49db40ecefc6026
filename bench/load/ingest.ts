import { taskOf } from "./in-child.ts";
import { sampleCalls } from "./sample-messages.ts";
import { send, type Target } from "./send.ts";

export interface IngestTask extends Target {
  /** `pairs`: start and end of each call in one batch; `whole`: complete calls; `singles`: a request for each message. */
  readonly shape: "pairs" | "whole" | "singles";
  readonly senders: number;
  readonly batches: number;
  readonly callsPerBatch: number;
}

export interface IngestResult {
  readonly elapsedMs: number;
  /** The times of all requests, ascending. */
  readonly latenciesMs: readonly number[];
}

interface Message {
  readonly path: string;
  readonly body: Buffer;
}

const task = taskOf<IngestTask>();
const calls = sampleCalls();
// made beforehand, so that the client's work is not measured
const queue = Array.from({ length: task.batches }, () => messagesOf(task));
const latenciesMs: number[] = [];
const began = performance.now();
await Promise.all(Array.from({ length: task.senders }, sendFromQueue));
const elapsedMs = performance.now() - began;
const result: IngestResult = { elapsedMs, latenciesMs: latenciesMs.toSorted((a, b) => a - b) };
process.stdout.write(JSON.stringify(result), () => process.exit());

async function sendFromQueue(): Promise<void> {
  for (let batch = queue.pop(); batch !== undefined; batch = queue.pop()) {
    for (const { path, body } of batch) {
      const sent = performance.now();
      const response = await send(task, path, body);
      latenciesMs.push(performance.now() - sent);
      if (response.includes('"error"')) throw new Error(`a message was set aside: ${response.slice(0, 500)}`);
    }
  }
}

function messagesOf({ shape, callsPerBatch }: IngestTask): readonly Message[] {
  const batch = Array.from({ length: callsPerBatch }, () => calls.next().value);
  if (shape === "singles") {
    return batch.flatMap(({ start, end }) => [
      { path: "/call/start", body: jsonBytes({ start }) },
      { path: "/call/end", body: jsonBytes({ end }) },
    ]);
  }
  if (shape === "whole") {
    const items = batch.map(({ start, end }) => ({ ...start, ...end }));
    return [{ path: "/v2/bench/ingest/calls/complete", body: jsonBytes({ batch: items }) }];
  }
  const items = batch.flatMap(({ start, end }) => [
    { mode: "start", req: { start } },
    { mode: "end", req: { end } },
  ]);
  return [{ path: "/call/upsert_batch", body: jsonBytes({ batch: items }) }];
}

function jsonBytes(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
