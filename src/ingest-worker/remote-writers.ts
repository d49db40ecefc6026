import { AsyncLocalStorage } from "node:async_hooks";
import type { CallWriter } from "../calls/write/call-writer.ts";
import type { ContentWriter } from "../content/content-writer.ts";
import type { FeedbackWriter } from "../feedback/feedback-writer.ts";
import type { Clock } from "../shared/clock.ts";
import { parentsFirst } from "./parents-first.ts";
import type { FromWorker, Items, ToWorker, Written } from "./messages.ts";

/** Chunk limits: the main thread stores one chunk at a time between other work. */
const CHUNK_ITEMS = 250;
const CHUNK_CHARS = 1024 * 1024;

type Item = Items["items"][number];

interface Job {
  readonly job: number;
  readonly nowMs: number;
}

interface Sent {
  readonly accepted: PromiseWithResolvers<void>;
  readonly written: PromiseWithResolvers<Written>;
}

/** Casts a write-only writer: routes use nothing else. */
function remote<Writer>(writer: Pick<Writer, "write" & keyof Writer>): Writer {
  return writer as Writer;
}

/** Writers that send rows to the main thread. */
export class RemoteWriters {
  readonly calls = remote<CallWriter>({
    write: async (project, events) => {
      const order = parentsFirst(events);
      const inOrder = order.map((at) => events[at]!);
      const written = await this.#write(inOrder, (items) => ({ writer: "calls", project, items }));
      const traces: (string | undefined)[] = events.map(() => undefined);
      for (const [index, at] of order.entries()) traces[at] = written[index] as string | undefined;
      return traces;
    },
  });
  readonly feedback = remote<FeedbackWriter>({
    write: async (changes) =>
      (await this.#write(changes, (items) => ({ writer: "feedback", items }))) as number[],
  });
  readonly content = remote<ContentWriter>({
    write: async (rows) => void (await this.#write(rows, (items) => ({ writer: "content", items }))),
  });
  readonly #send: (message: FromWorker) => void;
  readonly #jobs = new AsyncLocalStorage<Job>();
  readonly #sent = new Map<number, Sent>();
  #chunks = 0;

  constructor(send: (message: FromWorker) => void) {
    this.#send = send;
  }

  /** Arrival time of the request, by the main thread's clock. */
  readonly clock: Clock = { now: () => this.#jobs.getStore()!.nowMs };

  /** Attributes writes during `work` to a job. */
  during<Result>(job: Job, work: () => Promise<Result>): Promise<Result> {
    return this.#jobs.run(job, work);
  }

  onMessage(message: Exclude<ToWorker, { kind: "request" }>): void {
    const sent = this.#sent.get(message.chunk)!;
    if (message.kind === "accepted") {
      sent.accepted.resolve();
      return;
    }
    this.#sent.delete(message.chunk);
    if (message.kind === "written") sent.written.resolve(message.written);
    else sent.written.reject(new Error("writer failed"));
  }

  async #write<One extends Item>(
    items: readonly One[],
    toItems: (items: readonly One[]) => Items,
  ): Promise<Written> {
    const { job } = this.#jobs.getStore()!;
    const results: Promise<Written>[] = [];
    for (const chunkItems of chunksOf(items)) {
      const chunk = this.#chunks++;
      const sent = { accepted: Promise.withResolvers<void>(), written: Promise.withResolvers<Written>() };
      sent.written.promise.catch(() => undefined);
      this.#sent.set(chunk, sent);
      this.#send({ kind: "write", job, chunk, of: toItems(chunkItems) });
      results.push(sent.written.promise);
      await sent.accepted.promise;
    }
    return (await Promise.all(results)).flat();
  }
}

function* chunksOf<One extends Item>(items: readonly One[]): Generator<readonly One[]> {
  let from = 0;
  let chars = 0;
  for (const [at, item] of items.entries()) {
    chars += charsOf(item);
    if (at + 1 - from < CHUNK_ITEMS && chars < CHUNK_CHARS) continue;
    yield items.slice(from, at + 1);
    from = at + 1;
    chars = 0;
  }
  if (from < items.length) yield items.slice(from);
}

function charsOf({ columns = {} }: Item): number {
  let chars = 0;
  for (const value of Object.values(columns))
    chars += typeof value === "string" || Array.isArray(value) ? value.length : 8;
  return chars;
}
