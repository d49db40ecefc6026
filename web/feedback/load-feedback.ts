import { postJson, type RequestOptions, type ApiRequest } from "../api/client.ts";
import type { FeedbackPath, FeedbackStats } from "../api/routes.ts";
import { bucketsOf, type Buckets } from "../components/chart-buckets.ts";
import { boundsOf, type TimeRange } from "../state/time-range.ts";
import { metricOf, metricPaths, questionsOf, slugOf, withRate, type Values } from "./paths.ts";

export interface FeedbackQuestion {
  readonly project: string;
  readonly window: TimeRange;
  readonly zone: string;
}

/** Values at a path, over the window and by bucket. */
export interface PathStats {
  readonly path: FeedbackPath;
  readonly window: Values;
  readonly buckets: readonly Values[];
}

export interface LoadedFeedback {
  readonly paths: readonly PathStats[];
  /** All feedback of the window, by bucket. */
  readonly counts: readonly number[];
  readonly buckets: Buckets;
  /** How many paths are not shown. */
  readonly more: number;
}

const MAX_PATHS = 60;

export function statsQuestion(
  { project, window, zone }: FeedbackQuestion,
  paths: readonly FeedbackPath[],
): ApiRequest<"/feedback/stats"> {
  return {
    path: "/feedback/stats",
    body: { project_id: project, ...boundsOf(window), timezone: zone, metrics: paths.map(metricOf) },
  };
}

export async function loadFeedback(
  question: FeedbackQuestion,
  asking: RequestOptions,
): Promise<LoadedFeedback> {
  const schema = { project_id: question.project, ...boundsOf(question.window) };
  const { body: found } = await postJson({ path: "/feedback/payload_schema", body: schema }, asking);
  const all = metricPaths(found.paths);
  const shown = all.slice(0, MAX_PATHS);
  const asked = shown.length === 0 ? [[]] : questionsOf(shown);
  const answers = await Promise.all(
    asked.map(async (paths) => {
      const { body } = await postJson(statsQuestion(question, paths), asking);
      return { body, paths: paths.map((path) => statsOf(path, body)) };
    }),
  );
  // there is always one, if of no path
  const first = answers[0]!.body;
  return {
    paths: shown.flatMap((path) => answers.flatMap(({ paths }) => paths.filter((one) => one.path === path))),
    counts: first.buckets.map(({ count }) => count),
    buckets: bucketsOf(first, question.zone),
    more: all.length - shown.length,
  };
}

function statsOf(path: FeedbackPath, { buckets, window_stats }: FeedbackStats): PathStats {
  const slug = slugOf(path.json_path);
  const window = window_stats[slug] ?? {};
  const names = Object.keys(window);
  return {
    path,
    window: withRate(window),
    buckets: buckets.map((bucket) =>
      withRate(Object.fromEntries(names.map((name) => [name, bucket[`${name}_${slug}`] ?? null]))),
    ),
  };
}
