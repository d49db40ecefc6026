import { AsyncLocalStorage } from "node:async_hooks";
import type { CallWriter } from "../calls/write/call-writer.ts";
import type { ContentWriter } from "../content/content-writer.ts";
import type { FeedbackWriter } from "../feedback/feedback-writer.ts";
import type { Clock } from "../shared/clock.ts";
import { parentsFirst } from "./parents-first.ts";
import type { FromWorker, Items, ToWorker, Written } from "./messages.ts";

/** The other thread takes a piece at a time, between its other work. */
const PIECE_ITEMS = 250;
const PIECE_CHARS = 1024 * 1024;

type Item = Items["items"][number];

interface Job {
  readonly job: number;
  readonly nowMs: number;
}

interface Sent {
  readonly taken: PromiseWithResolvers<void>;
  readonly written: PromiseWithResolvers<Written>;
}

/** Routes only write; the rest of a writer stays in the other thread. */
function remote<Writer>(writer: Pick<Writer, "write" & keyof Writer>): Writer {
  return writer as Writer;
}

/** The writers of the other thread, as routes know them. */
export class RemoteWriters {
  readonly calls = remote<CallWriter>({
    write: async (project, parts) => {
      const order = parentsFirst(parts);
      const inOrder = order.map((at) => parts[at]!);
      const written = await this.#write(inOrder, (items) => ({ writer: "calls", project, items }));
      const traces: (string | undefined)[] = parts.map(() => undefined);
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
  #pieces = 0;

  constructor(send: (message: FromWorker) => void) {
    this.#send = send;
  }

  /** When the request came, by the clock of the other thread. */
  readonly clock: Clock = { now: () => this.#jobs.getStore()!.nowMs };

  /** What is written meanwhile belongs to a job. */
  during<Result>(job: Job, work: () => Promise<Result>): Promise<Result> {
    return this.#jobs.run(job, work);
  }

  onMessage(message: Exclude<ToWorker, { kind: "request" }>): void {
    const sent = this.#sent.get(message.piece)!;
    if (message.kind === "taken") {
      sent.taken.resolve();
      return;
    }
    this.#sent.delete(message.piece);
    if (message.kind === "written") sent.written.resolve(message.written);
    else sent.written.reject(new Error("a writer has failed"));
  }

  async #write<One extends Item>(
    items: readonly One[],
    toItems: (items: readonly One[]) => Items,
  ): Promise<Written> {
    const { job } = this.#jobs.getStore()!;
    const results: Promise<Written>[] = [];
    for (const some of inPieces(items)) {
      const piece = this.#pieces++;
      const sent = { taken: Promise.withResolvers<void>(), written: Promise.withResolvers<Written>() };
      sent.written.promise.catch(() => undefined);
      this.#sent.set(piece, sent);
      this.#send({ kind: "write", job, piece, of: toItems(some) });
      results.push(sent.written.promise);
      await sent.taken.promise;
    }
    return (await Promise.all(results)).flat();
  }
}

function* inPieces<One extends Item>(items: readonly One[]): Generator<readonly One[]> {
  let from = 0;
  let chars = 0;
  for (const [at, item] of items.entries()) {
    chars += charsOf(item);
    if (at + 1 - from < PIECE_ITEMS && chars < PIECE_CHARS) continue;
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
