import { postJson, type RequestOptions } from "../api/client.ts";
import type { FeedbackPath, Query } from "../api/routes.ts";
import { useQuery } from "../api/use-query.ts";
import { formatPercent, formatCount } from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";
import { FormattedValue } from "../components/figure.tsx";
import { LoadState } from "../components/notice.tsx";
import type { TimeRange } from "../state/time-range.ts";
import { searchOf, valueAt, type Value } from "./paths.ts";

interface LabelsQuestion {
  readonly project: string;
  readonly window: TimeRange;
  readonly path: FeedbackPath;
}

interface LabelSharesProps {
  readonly question: LabelsQuestion;
  /** Traces found by a search. */
  readonly tracesOf: (q: string) => string;
}

const MAX_READ = 1000;
const MAX_LABELS = 20;

/** The labels at a path, and how often they occur among its newest values in the window. Shows how many were counted. */
export function LabelShares({ question, tracesOf }: LabelSharesProps) {
  const load = useQuery(JSON.stringify(["labels", question]), (asking) => loadValues(question, asking));
  if (load.value === undefined) {
    return (
      <div aria-busy={load.busy}>
        <LoadState load={load} />
      </div>
    );
  }
  const { values, truncated } = load.value;
  const labels = [...Map.groupBy(values, (value) => value)].toSorted(([, a], [, b]) => b.length - a.length);
  return (
    <table className="labels">
      <caption>
        {truncated ? `Labels of the newest ${formatCount(values.length).text} values here` : "Labels"}
        {labels.length > MAX_LABELS && `, the most frequent ${MAX_LABELS} of ${labels.length}`}
      </caption>
      <thead>
        <tr>
          <th scope="col">label</th>
          <th scope="col" className="number">
            times
          </th>
          <th scope="col" className="number">
            share
          </th>
          <td />
        </tr>
      </thead>
      <tbody>
        {labels.slice(0, MAX_LABELS).map(([label, { length }]) => (
          <tr key={JSON.stringify(label)}>
            <th scope="row">
              <a href={tracesOf(searchOf(question.path, "$eq", label))}>
                <bdi>{oneLine(String(label), 80)}</bdi>
              </a>
            </th>
            <td className="number">
              <FormattedValue figure={formatCount(length)} />
            </td>
            <td className="number">
              <FormattedValue figure={formatPercent(length / values.length)} />
            </td>
            <td className="share">
              <i style={{ width: `${(100 * length) / values.length}%` }} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Reads the newest values at a path; `truncated`: there are older ones. */
async function loadValues(
  { project, window, path }: LabelsQuestion,
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
