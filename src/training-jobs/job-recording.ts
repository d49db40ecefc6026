import { randomUUID } from "node:crypto";
import type { Clock } from "../shared/clock.ts";
import { stringifyJson } from "../shared/json.ts";
import type { Project } from "../shared/project.ts";
import { BodyCount } from "./body-count.ts";
import type { BoundedReads } from "./bounded-reads.ts";
import { checkpointsPath, highestStepIn, newCourse } from "./course.ts";
import { OWN_DUE_MS } from "./follower.ts";
import { versions, type Job, type JobKind, type JobModel } from "./job.ts";
import type { JobStore } from "./job-store.ts";

/** Facts of a request that creates a job. */
export interface JobRequest {
  readonly kind: JobKind;
  readonly apiKey: string;
  readonly exportId: string | null;
  /** False for a compressed body. */
  readonly isPlain: boolean;
  /** The operator's credential reaches the job. */
  readonly isFollowed: boolean;
  /** The project that the job would belong to; undefined until it is known. */
  readonly owner: () => Project | undefined;
  /** Members of the body so far. */
  readonly members: () => Readonly<Record<string, unknown>>;
  readonly user: () => string | undefined;
  readonly modelOf: (id: string) => Promise<JobModel | undefined>;
}

export interface RecordingDeps {
  readonly store: JobStore;
  readonly reads: BoundedReads;
  readonly clock: Clock;
  readonly service: string;
  /** Recordings whose rows are refreshed. */
  readonly open: Set<JobRecording>;
}

const MAX_REQUEST_CHARS = 16 * 1024;
const UNKNOWN_MODEL: JobModel = { base_model: null, output_model: null };

/**
 * Record of a request that creates a job, from the first byte of its body. Its row is that of an upload, which that of the job
 * replaces. Without an owner, nothing is stored.
 */
export class JobRecording {
  readonly #deps: RecordingDeps;
  readonly #request: JobRequest;
  readonly #count: BodyCount;
  readonly #id = randomUUID();
  readonly #createdMs: number;
  #model = UNKNOWN_MODEL;
  #isSent = false;
  #isStored = false;
  #isOver = false;
  /** Highest step of the model before the job; null if not known. */
  #base: number | null = null;
  #found: { readonly id: string | null; readonly finding: Promise<void> } | undefined;

  constructor(deps: RecordingDeps, request: JobRequest) {
    this.#deps = deps;
    this.#request = request;
    this.#count = new BodyCount(request.isPlain);
    this.#createdMs = deps.clock.now();
  }

  /** True once the upstream has answered. */
  get isOver(): boolean {
    return this.#isOver;
  }

  push(chunk: Buffer): void {
    this.#count.push(chunk);
  }

  /** Stores and refreshes the upload while its body streams. */
  begin(): void {
    const storing = async (): Promise<void> => {
      await this.#findModel();
      if (!this.#isSent && !this.#isOver) await this.#store([this.upload()]);
    };
    // `sent` tells of a store that is away
    storing().catch(() => undefined);
  }

  /** Call it before the last byte is sent; resolves when it is durable that the job may exist. Errors: `StorageError`. */
  async sent(): Promise<void> {
    await this.#findModel();
    this.#isSent = true;
    await this.#store([this.upload()]);
  }

  /** The upstream has created a job, or had it. Resolves when that is durable. Errors: `StorageError`. */
  async created(id: string, owner: Project): Promise<void> {
    const { clock, service } = this.#deps;
    const status = this.#request.isFollowed ? "pending" : "unknown";
    const version = versions.created(clock.now());
    const made = { project_id: owner, id, status, version, course: newCourse(this.#base) } as const;
    // due at once here, and later for other services
    const checked_at_ms = clock.now() - OWN_DUE_MS;
    const job: Job = { ...this.upload(), ...made, checked_at_ms, checked_by: service };
    await this.#end([job]);
  }

  /** There is no job. */
  refused(): Promise<void> {
    return this.#end([]);
  }

  /** The exchange broke off. `mayExist`: false if the upstream cannot have received all of it. */
  async lost(error: string, mayExist = true): Promise<void> {
    const now = this.#deps.clock.now();
    const status = this.#isSent && mayExist ? "unknown" : "failed";
    const end = { status, error, ended_at_us: now * 1000, version: versions.ended(now) } as const;
    await this.#end([{ ...this.upload(), ...end }], true);
  }

  /** The row of the upload as it is now. */
  upload(): Job {
    const { kind, apiKey, exportId, members, user, owner } = this.#request;
    const now = this.#deps.clock.now();
    return {
      project_id: owner()!,
      id: this.#id,
      kind,
      status: "uploading",
      error: null,
      forgotten: 0,
      model_id: this.#modelId,
      ...this.#model,
      api_key: apiKey,
      svc_user_id: user()?.toWellFormed() ?? null,
      request: requestText(members()),
      ...this.#count.seen,
      export_id: exportId,
      is_sent: this.#isSent ? 1 : 0,
      metrics: "{}",
      checkpoints: "[]",
      stated_cost: null,
      course: newCourse(null),
      created_at_us: this.#createdMs * 1000,
      ended_at_us: null,
      checked_at_ms: now,
      checked_by: this.#deps.service,
      removed: 0,
      version: versions.changed(now),
    };
  }

  get #modelId(): string | null {
    const { model_id: id } = this.#request.members();
    return typeof id === "string" ? id.toWellFormed() : null;
  }

  async #end(rows: readonly Job[], isUpload = false): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#deps.open.delete(this);
    const isGone = this.#isStored && !isUpload;
    const gone = { removed: 1, version: versions.removed } as const;
    await this.#store(isGone ? [...rows, { ...this.upload(), ...gone }] : rows);
  }

  async #store(rows: readonly Job[]): Promise<void> {
    if (this.#request.owner() === undefined || rows.length === 0) return;
    this.#isStored = true;
    if (!this.#isOver) this.#deps.open.add(this);
    await this.#deps.store.write(rows);
  }

  /** Finds the model that the request names so far. Errors: `StorageError`. */
  #findModel(): Promise<void> {
    const id = this.#modelId;
    if (this.#found?.id !== id) this.#found = { id, finding: this.#find(id) };
    return this.#found.finding;
  }

  /** Begins to read the steps of the model as they are before the job, too, if that may be read now; nothing waits for it. */
  async #find(id: string | null): Promise<void> {
    this.#base = null;
    const model = id === null ? undefined : await this.#request.modelOf(id);
    this.#model = model ?? UNKNOWN_MODEL;
    if (id === null || model === undefined || !this.#request.isFollowed) return;
    const reading = this.#deps.reads.begin(`${checkpointsPath(id)}?order=desc&limit=1`);
    void reading?.then((answer) => {
      const isOk = typeof answer === "object" && answer.status === 200 && this.#found?.id === id;
      if (isOk) this.#base = highestStepIn(answer.body);
    });
  }
}

/** The members as JSON, without those that make it too long. */
function requestText(members: Readonly<Record<string, unknown>>): string {
  let chars = 0;
  const kept = Object.entries(members).filter(([name, value]) => {
    const size = name.length + stringifyJson(value).length;
    if (chars + size > MAX_REQUEST_CHARS) return false;
    chars += size;
    return true;
  });
  return stringifyJson(Object.fromEntries(kept));
}
