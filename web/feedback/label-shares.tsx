import { postJson, type RequestOptions } from "../api/client.ts";
import type { FeedbackPath, Query } from "../api/routes.ts";
import { useQuery } from "../api/use-query.ts";
import { formatPercent, formatCount } from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";
import { FormattedValue } from "../components/figure.tsx";
import { LoadState } from "../components/notice.tsx";
import { Table } from "../components/table.tsx";
import type { FeedbackQuestion } from "./load-feedback.ts";
import { searchOf, valueAt, type Value } from "./paths.ts";

interface LabelSharesProps {
  readonly question: FeedbackQuestion;
  readonly path: FeedbackPath;
  /** Traces found by a search. */
  readonly tracesOf: (q: string) => string;
}

const MAX_READ = 1000;
const MAX_LABELS = 20;

/** The labels at a path, and how often they occur among its newest values in the window. Shows how many were counted. */
export function LabelShares({ question, path, tracesOf }: LabelSharesProps) {
  const load = useQuery(JSON.stringify(["labels", question, path]), (asking) =>
    loadValues(question, path, asking),
  );
  const { values = [], truncated } = load.value ?? {};
  const labels = [...Map.groupBy(values, (value) => value)].toSorted(([, a], [, b]) => b.length - a.length);
  const all =
    truncated === true ? `Labels of the newest ${formatCount(values.length).text} values here` : "Labels";
  const more = labels.length > MAX_LABELS ? `, the most frequent ${MAX_LABELS} of ${labels.length}` : "";
  return (
    <div aria-busy={load.busy}>
      <LoadState load={load} />
      {load.value !== undefined && (
        <Table
          label={all + more}
          hasCaption
          className="labels"
          rows={labels.slice(0, MAX_LABELS)}
          columns={[
            {
              name: "label",
              cell: ([label]) => (
                <a href={tracesOf(searchOf(path, "$eq", label))}>
                  <bdi>{oneLine(String(label), 80)}</bdi>
                </a>
              ),
            },
            {
              name: "times",
              kind: "number",
              cell: ([, { length }]) => <FormattedValue figure={formatCount(length)} />,
            },
            {
              name: "share",
              kind: "number",
              cell: ([, { length }]) => <FormattedValue figure={formatPercent(length / values.length)} />,
            },
            {
              name: "",
              kind: "share",
              cell: ([, { length }]) => <i style={{ width: `${(100 * length) / values.length}%` }} />,
            },
          ]}
        />
      )}
    </div>
  );
}

/** Reads the newest values at a path; `truncated`: there are older ones. */
async function loadValues(
  { project, window }: FeedbackQuestion,
  path: FeedbackPath,
  asking: RequestOptions,
): Promise<{ readonly values: readonly Value[]; readonly truncated: boolean }> {
  const at = (ms: number) => [{ $getField: "created_at" }, { $literal: new Date(ms).toISOString() }];
  const exists = { $convert: { input: { $getField: `payload.${path.json_path}` }, to: "exists" } };
  const conditions: unknown[] = [{ $gte: at(window.fromMs) }, { $eq: [exists, { $literal: true }] }];
  if (window.toMs !== undefined) conditions.push({ $lt: at(window.toMs) });
  const body = {
    project_id: project,
    fields: ["payload"],
    query: { $expr: { $and: conditions } } as Query,
    sort_by: [{ field: "created_at", direction: "desc" }],
    limit: MAX_READ,
  } as const;
  const { body: answer, truncated } = await postJson({ path: "/feedback/query", body }, asking);
  const values = answer.result.map(({ payload }) => valueAt(payload ?? {}, path.json_path));
  return { values: values.filter((value) => value !== undefined), truncated };
}
