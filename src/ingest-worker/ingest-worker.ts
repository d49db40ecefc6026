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
import type { FromWorker, Items, WorkerSettings, ToWorker, Written } from "./messages.ts";

export interface Writers {
  readonly calls: CallWriter;
  readonly feedback: FeedbackWriter;
  readonly content: ContentWriter;
}

export interface IngestWorkerOptions extends WorkerSettings {
  readonly writers: Writers;
  readonly clock: Clock;
  /** Limiter of requests in the worker; excess requests wait. */
  readonly slots: FairSemaphore;
}

interface Job {
  readonly tenant: Tenant;
  readonly done: PromiseWithResolvers<LargeBodyResponse>;
  /** First writer error. */
  error?: unknown;
}

/** Sends to the worker of the job, which may have exited. */
type Send = (message: ToWorker) => void;

const MAX_WAIT_MS = 60_000;
/** Twice the heap of a 64 MiB body with eight million values. Exceeding it ends only the worker. */
const MAX_HEAP_MB = 2048;
const WORKER = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);

/**
 * Runs requests with large bodies in a worker thread, which parses, validates and prepares them with the normal routes and
 * returns rows in chunks. Starts with the first large body, and again after running out of memory.
 */
export class IngestWorker {
  readonly #options: IngestWorkerOptions;
  readonly #jobs = new Map<number, Job>();
  #worker: Worker | undefined;
  #lastJob = 0;

  constructor(options: IngestWorkerOptions) {
    this.#options = options;
  }

  /** Runs one request. Throws the route's errors; `service_overloaded` after 60 s queued or if the worker exits. */
  async handle(request: FastifyRequest, { bytes }: LargeBody): Promise<LargeBodyResponse> {
    const { grant, url, headers } = request;
    const permit = await this.#options.slots
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
      permit.release();
    }
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const { bodyLimitBytes } = this.#options;
    const worker = new Worker(WORKER, {
      workerData: { bodyLimitBytes } satisfies WorkerSettings,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    worker.unref();
    const ended = (error?: Error): void => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      for (const job of this.#jobs.values()) job.done.reject(overloaded(error));
    };
    worker.on("message", (message: FromWorker) =>
      this.#onMessage(message, (reply) => worker.postMessage(reply)),
    );
    worker.on("error", ended).on("exit", () => ended());
    return worker;
  }

  #onMessage(message: FromWorker, send: Send): void {
    const job = this.#jobs.get(message.job);
    if (message.kind === "write") {
      // messages of all jobs arrive in one async context
      void runAsTenant(job?.tenant ?? SYSTEM_TENANT, () => this.#write(job, message, send));
      return;
    }
    if (job === undefined) return;
    if (message.kind === "responded") job.done.resolve(message.response);
    else if (message.kind === "rejected") {
      const { code, message: text, ...options } = message.rejection;
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
    { chunk, of }: Extract<FromWorker, { kind: "write" }>,
    send: Send,
  ): Promise<void> {
    const writing = this.#store(of);
    send({ kind: "accepted", chunk });
    try {
      send({ kind: "written", chunk, written: await writing });
    } catch (error) {
      if (job !== undefined) job.error ??= error;
      send({ kind: "failed", chunk });
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
  return new AppError("service_overloaded", "Too many large request bodies. Retry in 5 s.", {
    cause,
    retryAfterSeconds: 5,
  });
}
