import { postJson } from "../api/client.ts";
import { useQuery } from "../api/use-query.ts";
import { LoadState } from "../components/notice.tsx";
import { FormattedValue } from "../components/figure.tsx";
import { Segments } from "../components/segments.tsx";
import { Table } from "../components/table.tsx";
import { formatCount } from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";
import type { HrefTo } from "../state/url-state.ts";
import { searchOfValue } from "../state/drill.ts";
import { FREQUENT, groupBy, type Frequent } from "../state/groups.ts";
import { statsQuestion, type FeedbackQuestion, type PathStats } from "./load-feedback.ts";
import { WindowValue } from "./path-card.tsx";
import { SHOWN, withRate } from "./paths.ts";

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
  const name = FREQUENT[dimension].toLowerCase();
  return (
    <section aria-busy={load.busy} aria-label="Split">
      <Segments
        label="Split by"
        all={FREQUENT}
        chosen={dimension}
        onChoose={(next) => location.assign(hrefTo("feedback", { by: next }))}
      />
      <LoadState load={load} />
      <Table
        label={`By ${name}`}
        className={load.isOld ? "split-by old" : "split-by"}
        rows={load.value?.groups ?? []}
        columns={[
          {
            name,
            cell: ({ key: { [dimension]: value = null } }) => (
              <a href={hrefTo("traces", { q: searchOfValue(dimension, value) })}>
                <bdi>{value === null ? "(none)" : oneLine(String(value), 80)}</bdi>
              </a>
            ),
          },
          {
            name: SHOWN[path.value_type].word,
            kind: "number",
            cell: ({ window_stats: values }) => (
              <WindowValue stats={{ path, window: withRate(Object.values(values)[0] ?? {}) }} />
            ),
          },
          {
            name: "feedbacks",
            kind: "number dim",
            cell: ({ count }) => <FormattedValue figure={formatCount(count)} />,
          },
        ]}
      />
    </section>
  );
}
