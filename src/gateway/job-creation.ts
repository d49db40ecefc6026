import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError, invalid } from "../shared/errors.ts";
import type { JobKind } from "../training-jobs/job.ts";
import type { JobRecording } from "../training-jobs/job-recording.ts";
import type { TrainingJobs } from "../training-jobs/training-jobs.ts";
import { encodingIn } from "./decompress-body.ts";
import { JsonScan } from "./json-scan.ts";
import { modelIn } from "./ownership/created-model.ts";
import { RESOURCE_NAMES, USER_NAMES } from "./ownership/scanned-names.ts";
import { canonicalId, type ResourceAccess } from "./ownership/resource-access.ts";
import type { OwnerLedger } from "./ownership/ledger/owner-ledger.ts";
import { userOf } from "./recording/model-request.ts";
import { hasOwnCredentials } from "./relay/credentials.ts";
import type { UploadCheck } from "./relay/upload.ts";
import type { UpstreamRequest } from "./relay/upstream.ts";
import { UpstreamError } from "./relay/upstream-error.ts";

type Members = Readonly<Record<string, unknown>>;

export interface JobCreationDeps {
  readonly jobs: TrainingJobs;
  readonly ledger: OwnerLedger;
  readonly access: ResourceAccess;
}

const EXPORT_HEADER = "x-sumtree-export-id";

/** Exchange that creates a training job, and its record. */
export class JobCreation {
  readonly recording: JobRecording;
  readonly #request: FastifyRequest;
  /** Reads the members of a plain body that nobody else reads. */
  readonly #scan: JsonScan | undefined;
  #members: () => Members | undefined;
  #isAccepted = false;

  /** Errors: validation. */
  constructor(request: FastifyRequest, kind: JobKind, { jobs, ledger, access }: JobCreationDeps) {
    this.#request = request;
    const isPlain = encodingIn(request.headers["content-encoding"]) === undefined;
    if (isPlain && request.grant.covers("*"))
      this.#scan = new JsonScan([], [...RESOURCE_NAMES, ...USER_NAMES]);
    this.#members = () => this.#scan?.members;
    this.recording = jobs.record({
      kind,
      apiKey: request.grant.keyId,
      exportId: exportIdOf(request),
      isPlain,
      isFollowed: !hasOwnCredentials(request),
      owner: access.owner,
      members: () => pick(this.#members(), RESOURCE_NAMES),
      user: () => userOf(this.#members() ?? {}),
      modelOf: async (id) => modelIn(await ledger.modelOf(canonicalId(id))),
    });
  }

  readonly onChunk = (chunk: Buffer): void => {
    this.recording.push(chunk);
    this.#scan?.push(chunk);
  };

  /** Takes the members of the body from somebody who reads it. */
  readBy(members: () => Members | undefined): void {
    this.#members = members;
  }

  /** Check of a streamed body that nothing else checks. */
  get check(): UploadCheck {
    return { push: () => undefined, finish: () => this.recording.sent() };
  }

  /** Returns the end of a check of a streamed body. */
  finishing(finish: () => Promise<void>): () => Promise<void> {
    return () => finish().then(() => this.recording.sent());
  }

  /** The body is about to be sent. Errors: `StorageError`. */
  async send(body: UpstreamRequest["body"]): Promise<void> {
    if (body instanceof Readable) return this.recording.begin();
    return this.recording.sent();
  }

  /** The upstream has answered. */
  async answered(status: number): Promise<void> {
    this.#isAccepted = status >= 200 && status < 300;
    if (!this.#isAccepted) await this.recording.refused();
  }

  /** The exchange is over: `error` is why, if it failed. */
  async end(error: unknown, reply: FastifyReply): Promise<void> {
    if (this.recording.isOver) return;
    const { raw } = this.#request;
    const isForeign = error instanceof AppError && error.code === "not_found";
    const hasLeft = error === undefined ? !reply.raw.writableFinished : !raw.complete && raw.destroyed;
    const failed = error instanceof AppError && error.cause instanceof UpstreamError ? error : undefined;
    try {
      if (hasLeft) await this.recording.lost("The client disconnected.");
      else if (failed !== undefined)
        await this.recording.lost(failed.message, (failed.cause as UpstreamError).mayHaveBeenProcessed);
      else if (this.#isAccepted && !isForeign)
        await this.recording.lost("The response names no job, or it could not be stored.");
      else if (error instanceof AppError && error.code === "upstream_broken")
        await this.recording.lost(error.message);
      else await this.recording.refused();
    } catch (cause) {
      this.#request.log.error({ err: cause }, "training job not recorded");
    }
  }
}

/** Errors: validation. */
function exportIdOf({ headers }: FastifyRequest): string | null {
  const id = headers[EXPORT_HEADER];
  if (id === undefined) return null;
  if (typeof id === "string" && /^[\w-]{1,64}$/.test(id)) return id;
  const msg = "Input should be 1 to 64 letters, digits, _ or -";
  throw invalid([{ loc: ["header", EXPORT_HEADER], msg, type: "string_pattern_mismatch" }]);
}

function pick(members: Members | undefined, names: readonly string[]): Members {
  return Object.fromEntries(
    names.flatMap((name) => (members && name in members ? [[name, members[name]]] : [])),
  );
}
