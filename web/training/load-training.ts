import { postJson, type RequestOptions } from "../api/client.ts";
import type { DatasetExport, TrainingJob, UsageTotal } from "../api/routes.ts";
import type { Rating } from "../state/rating.ts";
import { boundsOf, ONE_BUCKET, type TimeRange } from "../state/time-range.ts";

const MAX_JOBS = 200;

export interface LoadedJobs {
  readonly jobs: readonly TrainingJob[];
  /** There are older ones. */
  readonly isCut: boolean;
}

/** The newest jobs of a project. */
export async function loadJobs(project: string, asking: RequestOptions): Promise<LoadedJobs> {
  const body = { project_id: project, limit: MAX_JOBS };
  const { jobs, next_page_token } = (await postJson({ path: "/training/jobs/query", body }, asking)).body;
  return { jobs, isCut: next_page_token !== null };
}

/** True for a job that can still change. */
export function isOpen({ status }: TrainingJob): boolean {
  return status === "uploading" || status === "pending" || status === "running";
}

/** The export that a job was made of; undefined if it is gone. */
export async function loadExport(
  project: string,
  export_id: string,
  asking: RequestOptions,
): Promise<DatasetExport | undefined> {
  const body = { project_id: project, export_id, limit: 1 };
  return (await postJson({ path: "/dataset/query", body }, asking)).body.exports[0];
}

const MAX_MODELS = 1000;

/** Usage of each model in a window, with the ratings of its answers. */
export async function loadModels(
  { project, window, rating }: { project: string; window: TimeRange; rating: Rating | undefined },
  asking: RequestOptions,
): Promise<ReadonlyMap<string, UsageTotal>> {
  const body = {
    project_id: project,
    ...boundsOf(window),
    granularity: ONE_BUCKET,
    group_by: ["llm" as const],
    include_costs: true,
    limit: MAX_MODELS,
    ...(rating && { outcome: rating }),
  };
  const { groups } = (await postJson({ path: "/usage/stats", body }, asking)).body;
  return new Map(groups.map(({ key, total }) => [String(key["llm"]), total]));
}
