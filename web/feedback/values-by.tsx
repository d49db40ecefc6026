import { postJson } from "../api/client.ts";
import { useQuery } from "../api/use-query.ts";
import { LoadState } from "../components/notice.tsx";
import { FormattedValue } from "../components/figure.tsx";
import { Segments } from "../components/segments.tsx";
import { formatCount } from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";
import type { HrefTo } from "../state/url-state.ts";
import { searchOfValue } from "../state/drill.ts";
import { FREQUENT, groupBy, type Frequent } from "../state/groups.ts";
import { statsQuestion, type FeedbackQuestion, type PathStats } from "./load-feedback.ts";
import { WindowValue, WORDS } from "./path-card.tsx";

interface ValuesByProps {
  readonly question: FeedbackQuestion;
  readonly path: PathStats["path"];
  /** As in the address. */
  readonly by: string | undefined;
  readonly hrefTo: HrefTo;
}

const MAX_GROUPS = 20;

/** The number of a path for each model, user, operation or version. */
export function ValuesBy({ question, path, by = "llm", hrefTo }: ValuesByProps) {
  const dimension = Object.hasOwn(FREQUENT, by) ? (by as Frequent) : "llm";
  const load = useQuery(
    JSON.stringify(["values by", question, path, dimension]),
    async (asking) => {
      const { body } = statsQuestion(question, [path]);
      const grouped = { ...body, group_by: [groupBy(dimension) as "llm"], limit: MAX_GROUPS };
      return (await postJson({ path: "/feedback/stats", body: grouped }, asking)).body;
    },
    `values by ${question.project} ${path.json_path}`,
  );
  return (
    <section aria-busy={load.busy} aria-label="Split">
      <Segments
        label="Split by"
        all={FREQUENT}
        chosen={dimension}
        onChoose={(next) => location.assign(hrefTo("feedback", { by: next }))}
      />
      <LoadState load={load} />
      <table className={load.isOld ? "split-by old" : "split-by"}>
        <thead>
          <tr>
            <th scope="col">{FREQUENT[dimension].toLowerCase()}</th>
            <th scope="col" className="number">
              {WORDS[path.value_type]}
            </th>
            <th scope="col" className="number">
              feedbacks
            </th>
          </tr>
        </thead>
        <tbody>
          {load.value?.groups?.map(({ key, count, window_stats: values }) => {
            const value = key[dimension] ?? null;
            const name = value === null ? null : String(value);
            return (
              <tr key={JSON.stringify(value)}>
                <th scope="row">
                  <a href={hrefTo("traces", { q: searchOfValue(dimension, value) })}>
                    <bdi>{name === null ? "(none)" : oneLine(name, 80)}</bdi>
                  </a>
                </th>
                <td className="number">
                  <WindowValue stats={{ path, window: Object.values(values)[0] ?? {} }} />
                </td>
                <td className="number dim">
                  <FormattedValue figure={formatCount(count)} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
