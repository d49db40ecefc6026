import { postJson } from "../api/client.ts";
import type { Query } from "../api/routes.ts";
import { useQuery } from "../api/use-query.ts";
import { formatPercent, formatCount } from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";
import { FormattedValue } from "../components/figure.tsx";
import { LoadState } from "../components/notice.tsx";
import type { TimeRange } from "../state/time-range.ts";
import { labelCounts } from "./paths.ts";

interface LabelSharesProps {
  readonly path: string;
  readonly project: string;
  readonly window: TimeRange;
}

const MAX_READ = 1000;
const MAX_LABELS = 20;

/** The values at a path, and how often they occur in the newest feedback of the window. Shows how much was counted. */
export function LabelShares({ path, project, window }: LabelSharesProps) {
  const load = useQuery(JSON.stringify(["labels", path, project, window]), async (asking) => {
    const at = (ms: number) => [{ $getField: "created_at" }, { $literal: new Date(ms).toISOString() }];
    const conditions: unknown[] = [{ $gte: at(window.fromMs) }];
    if (window.toMs !== undefined) conditions.push({ $lt: at(window.toMs) });
    const body = {
      project_id: project,
      fields: ["payload"],
      query: { $expr: { $and: conditions } } as Query,
      sort_by: [{ field: "created_at", direction: "desc" }],
      limit: MAX_READ,
    } as const;
    const answer = await postJson({ path: "/feedback/query", body }, asking);
    const counts = labelCounts(
      answer.body.result.map(({ payload }) => payload ?? {}),
      path,
    );
    return { counts, read: answer.body.result.length, truncated: answer.truncated };
  });
  if (load.value === undefined) {
    return (
      <div aria-busy={load.busy}>
        <LoadState load={load} />
      </div>
    );
  }
  const { counts, read, truncated } = load.value;
  const all = counts.reduce((sum, [, count]) => sum + count, 0);
  return (
    <table className="labels">
      <caption>
        {truncated ? `Labels of the newest ${formatCount(read).text} feedbacks` : "Labels"}
        {counts.length > MAX_LABELS && `, the most frequent ${MAX_LABELS} of ${counts.length}`}
      </caption>
      <tbody>
        {counts.slice(0, MAX_LABELS).map(([label, count]) => (
          <tr key={label}>
            <th scope="row">
              <bdi>{oneLine(label, 80)}</bdi>
            </th>
            <td className="number">
              <FormattedValue figure={formatCount(count)} />
            </td>
            <td className="number">
              <FormattedValue figure={formatPercent(count / all)} />
            </td>
            <td className="share">
              <i style={{ width: `${(count / all) * 100}%` }} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
