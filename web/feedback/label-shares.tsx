import { ask } from "../api/ask.ts";
import type { Query } from "../api/routes.ts";
import { useLoad } from "../api/use-load.ts";
import { share, tokens } from "../numbers/figure.ts";
import { oneLine } from "../numbers/plain-text.ts";
import { Shown } from "../parts/figure.tsx";
import { LoadState } from "../parts/notice.tsx";
import type { TimeWindow } from "../state/time-window.ts";
import { labelCounts } from "./paths.ts";

interface LabelSharesProps {
  readonly path: string;
  readonly project: string;
  readonly window: TimeWindow;
}

const MAX_READ = 1000;
const MAX_LABELS = 20;

/** The values at a path, and how often they occur in the newest feedback of the window. Shows how much was counted. */
export function LabelShares({ path, project, window }: LabelSharesProps) {
  const load = useLoad(JSON.stringify([path, project, window]), async (asking) => {
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
    const answer = await ask({ path: "/feedback/query", body }, asking);
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
    <table class="labels">
      <caption>
        {truncated ? `Labels of the newest ${tokens(read).text} feedbacks` : "Labels"}
        {counts.length > MAX_LABELS && `, the most frequent ${MAX_LABELS} of ${counts.length}`}
      </caption>
      <tbody>
        {counts.slice(0, MAX_LABELS).map(([label, count]) => (
          <tr key={label}>
            <th scope="row">
              <bdi>{oneLine(label, 80)}</bdi>
            </th>
            <td class="number">
              <Shown figure={tokens(count)} />
            </td>
            <td class="number">
              <Shown figure={share(count / all)} />
            </td>
            <td class="share">
              <i style={{ width: `${(count / all) * 100}%` }} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
