import { useQuery } from "../api/use-query.ts";
import { formatPercent, formatCount } from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";
import { FormattedValue } from "../components/figure.tsx";
import { LoadState } from "../components/notice.tsx";
import { loadValues, MAX_OPENED, searchOfCalls, type Values, type ValuesQuestion } from "./load-values.ts";

interface LabelSharesProps {
  readonly question: ValuesQuestion;
  /** Traces found by a search. */
  readonly tracesOf: (q: string) => string;
}

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
  const labels = byLabel(values);
  return (
    <table className="labels">
      <caption>
        {truncated ? `Labels of the newest ${formatCount(values.length).text} values here` : "Labels"}
        {labels.length > MAX_LABELS && `, the most frequent ${MAX_LABELS} of ${labels.length}`}
      </caption>
      <tbody>
        {labels.slice(0, MAX_LABELS).map(([label, found]) => {
          const share = found.length / values.length;
          return (
            <tr key={label}>
              <th scope="row">
                <a
                  href={tracesOf(searchOfCalls(found))}
                  title={found.length > MAX_OPENED ? `The newest ${MAX_OPENED}` : undefined}
                >
                  <bdi>{oneLine(label, 80)}</bdi>
                </a>
              </th>
              <td className="number">
                <FormattedValue figure={formatCount(found.length)} />
              </td>
              <td className="number">
                <FormattedValue figure={formatPercent(share)} />
              </td>
              <td className="share">
                <i style={{ width: `${share * 100}%` }} />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** The most frequent first. */
function byLabel(values: Values["values"]): readonly (readonly [string, Values["values"]])[] {
  const groups = Map.groupBy(values, ({ value }) => String(value));
  return [...groups].toSorted(([, a], [, b]) => b.length - a.length);
}
