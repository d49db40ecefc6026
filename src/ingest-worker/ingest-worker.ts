import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { FastifyRequest } from "fastify";
import type { CallWriter } from "../calls/write/call-writer.ts";
import type { ContentWriter } from "../content/content-writer.ts";
import type { FeedbackWriter } from "../feedback/feedback-writer.ts";
import type { LargeBodyResponse, LargeBody } from "../http/bodies/large-body.ts";
import type { Clock } from "../shared/clock.ts";
import { AppError } from "../shared/errors.ts";
import { runAsTenant, SYSTEM_TENANT, type Tenant } from "../fairness/tenant.ts";
import { PermitDenied, type FairSemaphore } from "../fairness/fair-semaphore.ts";
import type { FromWorker, Items, ThreadSettings, ToWorker, Written } from "./messages.ts";

export interface Writers {
  readonly calls: CallWriter;
  readonly feedback: FeedbackWriter;
  readonly content: ContentWriter;
}

export interface SecondThreadOptions extends ThreadSettings {
  readonly writers: Writers;
  readonly clock: Clock;
  /** How many requests may be in the thread; the others wait in turn. */
  readonly places: FairSemaphore;
}

interface Job {
  readonly tenant: Tenant;
  readonly done: PromiseWithResolvers<LargeBodyResponse>;
  /** What a writer has refused. */
  error?: unknown;
}

/** To the thread that asked, which may be gone. */
type Tell = (message: ToWorker) => void;

const MAX_WAIT_MS = 60_000;
/** What a body of 64 MiB and eight million values takes, twice. The process itself does not end with it. */
const MAX_HEAP_MB = 2048;
const WORKER = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);

/**
 * Reads large bodies beside the event loop: a thread parses, validates and prepares them by the routes themselves; what
 * they store comes back in pieces. It starts with the first large body, and anew after it has run out of memory.
 */
export class IngestWorker {
  readonly #options: SecondThreadOptions;
  readonly #jobs = new Map<number, Job>();
  #worker: Worker | undefined;
  #lastJob = 0;

  constructor(options: SecondThreadOptions) {
    this.#options = options;
  }

  /** Errors: those of the route; service_overloaded. */
  async answer(request: FastifyRequest, { bytes }: LargeBody): Promise<LargeBodyResponse> {
    const { grant, url, headers } = request;
    const place = await this.#options.places
      .acquire(grant.tenant, { maxWaitMs: MAX_WAIT_MS })
      .catch(toOverloaded);
    const job: Job = { tenant: grant.tenant, done: Promise.withResolvers() };
    const id = ++this.#lastJob;
    this.#jobs.set(id, job);
    try {
      const { authorization: _, ...kept } = headers;
      const nowMs = this.#options.clock.now();
      const sent = { url, nowMs, headers: textsOf(kept), body: bytes, key: grant.key };
      this.#worker ??= this.#start();
      this.#worker.postMessage({ kind: "request", job: id, request: sent } satisfies ToWorker, [
        bytes.buffer,
      ]);
      return await job.done.promise;
    } finally {
      this.#jobs.delete(id);
      place.release();
    }
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const { bodyLimitBytes } = this.#options;
    const worker = new Worker(WORKER, {
      workerData: { bodyLimitBytes } satisfies ThreadSettings,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    worker.unref();
    const ended = (error?: Error): void => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      for (const job of this.#jobs.values()) job.done.reject(overloaded(error));
    };
    worker.on("message", (message: FromWorker) => this.#hear(message, (said) => worker.postMessage(said)));
    worker.on("error", ended).on("exit", () => ended());
    return worker;
  }

  #hear(message: FromWorker, tell: Tell): void {
    const job = this.#jobs.get(message.job);
    if (message.kind === "write") {
      // messages of all jobs come in one context
      void runAsTenant(job?.tenant ?? SYSTEM_TENANT, () => this.#write(job, message, tell));
      return;
    }
    if (job === undefined) return;
    if (message.kind === "answered") job.done.resolve(message.answer);
    else if (message.kind === "refused") {
      const { code, message: text, ...options } = message.refused;
      job.done.reject(
        new AppError(code, text, {
          issues: options.issues,
          ...(options.retryAfterSeconds !== undefined && { retryAfterSeconds: options.retryAfterSeconds }),
        }),
      );
    } else job.done.reject(job.error ?? message.error);
  }

  async #write(
    job: Job | undefined,
    { piece, of }: Extract<FromWorker, { kind: "write" }>,
    tell: Tell,
  ): Promise<void> {
    const writing = this.#store(of);
    tell({ kind: "taken", piece });
    try {
      tell({ kind: "written", piece, written: await writing });
    } catch (error) {
      if (job !== undefined) job.error ??= error;
      tell({ kind: "failed", piece });
    }
  }

  async #store(of: Items): Promise<Written> {
    const { calls, feedback, content } = this.#options.writers;
    if (of.writer === "calls") return calls.write(of.project, of.items);
    if (of.writer === "feedback") return feedback.write(of.items);
    await content.write(of.items);
    return [];
  }
}

function textsOf(headers: FastifyRequest["headers"]): Record<string, string> {
  const framing = new Set([
    "content-length",
    "content-encoding",
    "transfer-encoding",
    "connection",
    "expect",
  ]);
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value !== "string" || framing.has(name) ? [] : [[name, value] as const],
    ),
  );
}

function toOverloaded(error: unknown): never {
  throw error instanceof PermitDenied ? overloaded(error) : error;
}

function overloaded(cause?: Error): AppError {
  return new AppError("service_overloaded", "Too many large bodies are being read. Try again.", {
    cause,
    retryAfterSeconds: 5,
  });
}
