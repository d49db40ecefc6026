import type { ReactNode } from "react";
import { postJson } from "../api/client.ts";
import type { AgentStats, BodyOf } from "../api/routes.ts";
import { useQuery } from "../api/use-query.ts";
import { Cost, FormattedValue, Unknown } from "../components/figure.tsx";
import type { Column } from "../components/table.tsx";
import { formatCount, formatDuration } from "../format/figure.ts";
import { groupBy } from "../state/groups.ts";
import { boundsOf } from "../state/time-range.ts";
import type { UsageQuestion } from "./load-usage.ts";
import type { UsageRow } from "./usage-columns.tsx";

type Outcomes = AgentStats["total"];

/** Most groups that the route takes. */
const MAX_GROUPS = 3;
const OF_POINTS = ["thread_id", "svc_user_id", "api_key"];

/** Columns of what coding agents report that they did; none where they report nothing, or a search leaves something out. */
export function useOutcomeColumns(question: UsageQuestion): readonly Column<UsageRow>[] {
  const { project, window, groups, text } = question;
  const isKnown = groups.every((group) => OF_POINTS.includes(group) || group.startsWith("attributes."));
  const body = {
    project_id: project,
    ...boundsOf(window),
    group_by: groups.map(groupBy) as NonNullable<BodyOf<"/agents/stats">["group_by"]>,
    limit: 1000,
  };
  const isAsked = text === "" && groups.length <= MAX_GROUPS && isKnown;
  const { value } = useQuery(isAsked ? JSON.stringify(body) : undefined, async (asking) => {
    const { groups, total } = (await postJson({ path: "/agents/stats", body }, asking)).body;
    const rows = [...groups, ...(groups.length === 0 ? [] : [{ key: {}, total }])];
    return new Map(rows.map(({ key, total }) => [JSON.stringify(key), total]));
  });
  return isAsked && value !== undefined && value.size > 0 ? columnsOf(value) : [];
}

function columnsOf(found: ReadonlyMap<string, Outcomes>): readonly Column<UsageRow>[] {
  const of = ({ key }: UsageRow): Outcomes | undefined => found.get(JSON.stringify(key));
  const column = (
    name: string,
    value: (row: UsageRow) => number | null | undefined,
    shown: (value: number, row: UsageRow) => ReactNode,
  ): Column<UsageRow> => ({
    name,
    kind: "number",
    value: (row) => value(row) ?? null,
    cell: (row) => {
      const number = value(row);
      if (row.key === undefined) return null;
      return number == null ? <Unknown why="no agent reports it" /> : shown(number, row);
    },
  });
  const count = (name: string, member: keyof Outcomes) =>
    column(
      name,
      (row) => of(row)?.[member],
      (value) => <FormattedValue figure={formatCount(value)} />,
    );
  return [
    column("$ per commit", costPerCommit, (cost, { total }) => (
      <Cost total={{ total_cost: cost, partial: total.partial }} />
    )),
    count("commits", "commits"),
    count("pull requests", "pull_requests"),
    column(
      "active time",
      (row) => of(row)?.active_seconds,
      (seconds) => <FormattedValue figure={formatDuration(seconds * 1000)} />,
    ),
    count("lines added", "lines_added"),
    count("lines removed", "lines_removed"),
    count("edits accepted", "edits_accepted"),
  ];

  function costPerCommit(row: UsageRow): number | null {
    const { total_cost: cost } = row.total;
    const commits = of(row)?.commits;
    return cost == null || !commits ? null : cost / commits;
  }
}
