import { postBlob, postJson, type RequestOptions } from "../api/client.ts";
import type { BodyOf, DatasetExport } from "../api/routes.ts";
import type { Fields } from "../components/form-dialog.tsx";
import { readRating } from "../state/rating.ts";
import { allTraces } from "./csv-of-traces.ts";
import type { TracesQuestion } from "./traces-question.ts";

/** Most traces of one dataset: their ids are sent. */
export const MAX_TRACES = 10_000;

type Body = BodyOf<"/dataset/export">;

export interface MadeDataset {
  readonly data: Blob;
  readonly manifest: DatasetExport | undefined;
  /** Number of traces that match beyond `MAX_TRACES`. */
  readonly tracesLeft: number;
}

/** The request for the chat calls of traces, as the form says. */
export function datasetRequest(project: string, traceIds: readonly string[], fields: Fields): Body {
  const rating = readRating(fields["rating"] ?? "");
  const holdout = Number(fields["holdout"] ?? 0) / 100;
  return {
    project_id: project,
    filter: { trace_ids: [...traceIds] },
    format: fields["format"] as Body["format"],
    ...(rating && { feedback: rating }),
    ...(fields["only"] && { only: fields["only"] as NonNullable<Body["only"]> }),
    ...(fields["dedupe"] !== undefined && { dedupe: true }),
    ...(holdout > 0 && { holdout }),
  };
}

/** Makes a dataset of the traces that match. */
export async function makeDataset(
  question: TracesQuestion,
  fields: Fields,
  asking: RequestOptions,
): Promise<MadeDataset> {
  const { rows, total } = await allTraces(question, asking, () => undefined, MAX_TRACES);
  const ids = rows.slice(0, MAX_TRACES).map(({ trace_id }) => trace_id);
  const body = datasetRequest(question.project, ids, fields);
  const { data, headers } = await postBlob({ path: "/dataset/export", body }, asking);
  const export_id = headers.get("x-sumtree-export-id");
  const asked = { project_id: question.project, export_id, limit: 1 };
  const { exports } = (await postJson({ path: "/dataset/query", body: asked }, asking)).body;
  return { data, manifest: exports[0], tracesLeft: total - ids.length };
}
