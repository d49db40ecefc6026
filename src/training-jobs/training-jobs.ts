import { randomUUID } from "node:crypto";
import type { Clock } from "../shared/clock.ts";
import { BoundedReads, type ReadUpstream } from "./bounded-reads.ts";
import { createFollower, type FollowerLog } from "./follower.ts";
import { JobRecording, type JobRequest } from "./job-recording.ts";
import type { JobStore } from "./job-store.ts";

/** Ledger of training jobs, as the gateway uses it. */
export interface TrainingJobs {
  record(request: JobRequest): JobRecording;
  /** Follows jobs by these reads. */
  connect(read: ReadUpstream): void;
}

export interface TrainingJobsService extends TrainingJobs {
  /** Call it once a second. Errors: `StorageError`. */
  follow(): Promise<void>;
  /** Stores how far the open uploads are. Call it every 10 s. Errors: `StorageError`. */
  refresh(): Promise<void>;
}

export interface TrainingJobsDeps {
  readonly store: JobStore;
  readonly clock: Clock;
  /** Monotonic. */
  readonly steady: Clock;
  readonly log: FollowerLog;
}

export function createTrainingJobs(deps: TrainingJobsDeps): TrainingJobsService {
  const reads = new BoundedReads(deps.steady);
  const shared = { ...deps, reads, service: randomUUID() };
  const open = new Set<JobRecording>();
  return {
    record: (request) => new JobRecording({ ...shared, open }, request),
    connect: (read) => reads.connect(read),
    follow: createFollower(shared),
    refresh: () => deps.store.write([...open].map((one) => one.upload())),
  };
}
