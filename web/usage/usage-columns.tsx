import type { ReactNode } from "react";
import type { UsageStats, UsageTotal } from "../api/routes.ts";
import { Change, Cost, FormattedValue, Unknown } from "../components/figure.tsx";
import type { Column } from "../components/table.tsx";
import type { TraceLinks } from "../state/drill.ts";
import { budgetLink } from "../state/budget-link.ts";
import type { HrefTo } from "../state/url-state.ts";
import type { Subject } from "../state/groups.ts";
import { COLUMNS, formatOf, MEASURES, type Measure } from "./measures.ts";

type Key = UsageStats["groups"][number]["key"];

export interface UsageRow {
  /** Of a group; empty: of all calls. */
  readonly key?: Key;
  readonly name: ReactNode;
  readonly total: UsageTotal;
  /** The same before; null: there was nothing, undefined: it is not known. */
  readonly before?: UsageTotal | null | undefined;
  readonly links?: TraceLinks | undefined;
  /** More of it may be among the groups that are not listed. */
  readonly isAtLeast?: boolean;
  readonly trend?: ReactNode;
  readonly lastSeen?: string;
}

/** The columns of calls or of traces; the first names the rows. */
export function columnsOf(first: string, of: Subject, measure: Measure): readonly Column<UsageRow>[] {
  const measures = COLUMNS[of].includes(measure) ? COLUMNS[of] : [measure, ...COLUMNS[of]];
  const columns = measures.map((name): Column<UsageRow> => {
    const { label, valueOf } = MEASURES[name];
    return {
      name: label.toLowerCase(),
      kind: `number ${name}`,
      value: ({ total }) => valueOf(total),
      cell: (row) => <UsageCell {...{ row }} measure={name} />,
    };
  });
  return [{ name: first, cell: ({ name }) => name }, ...columns];
}

export const TREND: readonly Column<UsageRow>[] = [
  { name: "over time", kind: "trend", cell: ({ trend }) => trend },
  { name: "last seen", kind: "last", cell: ({ lastSeen }) => lastSeen },
];

/** Links that set a budget. */
export function budgetColumn(hrefTo: HrefTo): Column<UsageRow> {
  const cell = ({ key }: UsageRow): ReactNode => {
    const href = key && budgetLink(hrefTo, key);
    return href && <a href={href}>Set a budget</a>;
  };
  return { name: "", cell };
}

/** A value; unknown, or with ≥, where something has no price. */
export function UsageValue({ total, measure }: { readonly total: UsageTotal; readonly measure: Measure }) {
  const { kind, valueOf } = MEASURES[measure];
  const value = valueOf(total);
  if (kind === "usd") return <Cost total={{ total_cost: value, partial: total.partial }} />;
  if (value === null) return <Unknown why="nothing has ended, or it is of several messages" />;
  return <FormattedValue figure={formatOf(measure)(value)} dim={value === 0} />;
}

export function UsageChange({ before, now, measure }: UsageChangeProps) {
  const { kind, valueOf } = MEASURES[measure];
  const isPartial = kind === "usd" && (before?.partial === true || now.partial === true);
  return (
    <Change before={before === null ? undefined : valueOf(before)} now={valueOf(now)} {...{ isPartial }} />
  );
}

interface UsageChangeProps {
  /** Null: there was nothing. */
  readonly before: UsageTotal | null;
  readonly now: UsageTotal;
  readonly measure: Measure;
}

function UsageCell({ row, measure }: { readonly row: UsageRow; readonly measure: Measure }) {
  const { total, before, links, isAtLeast = false } = row;
  const { kind, valueOf, hasChange = false } = MEASURES[measure];
  const value = valueOf(total);
  const shown = <UsageValue {...{ total, measure }} />;
  return (
    <>
      {isAtLeast && value !== null && !(kind === "usd" && total.partial === true) && "≥ "}
      {links === undefined || !value ? shown : <a href={links(measure)}>{shown}</a>}
      {hasChange && before !== undefined && (
        <span className="change">
          <UsageChange {...{ before, measure }} now={total} />
        </span>
      )}
    </>
  );
}
