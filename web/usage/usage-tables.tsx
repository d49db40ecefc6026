import type { ReactNode } from "react";
import type { UsageStats, UsageTotal } from "../api/routes.ts";
import { counted, formatPercent, formatCount } from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";
import { nameOf, type Buckets } from "../components/chart-buckets.ts";
import { Cost, FormattedValue } from "../components/figure.tsx";
import { Table, type Column } from "../components/table.tsx";
import type { TraceLinks } from "../state/drill.ts";
import { labelOf, nameOfGroup } from "../state/groups.ts";
import { colorsOf, OTHER } from "./colors.ts";
import { MEASURES, type LoadedUsage, type Measure } from "./load-usage.ts";
import { UsageChange } from "./usage-summary.tsx";

interface UsageRow {
  readonly name: ReactNode;
  readonly total: UsageTotal;
  readonly links?: TraceLinks | undefined;
  readonly change?: ReactNode;
}

const COLUMNS = (
  [
    ["calls", "calls", "calls"],
    ["failed", "errors", "errors"],
    ["prompt", "prompt_tokens", "tokens"],
    ["cache read", "cache_read_input_tokens", "tokens"],
    ["cache write", "cache_creation_input_tokens", "tokens"],
    ["completion", "completion_tokens", "tokens"],
    ["tokens", "total_tokens", "tokens"],
    ["cost", "total_cost", "cost"],
  ] as const
).map(([name, member, link]): Column<UsageRow> => {
  const isCost = member === "total_cost";
  return {
    name,
    kind: `number ${isCost ? "cost" : member}`,
    value: ({ total }) => total[member] ?? null,
    cell({ total, links }) {
      const value = total[member] ?? null;
      const figure = isCost ? (
        <Cost total={total} />
      ) : (
        <FormattedValue figure={formatCount(value ?? 0)} dim={value === 0} />
      );
      return links === undefined || value === 0 ? figure : <a href={links[link]}>{figure}</a>;
    },
  };
});

function columnsFor(first: string): readonly Column<UsageRow>[] {
  return [{ name: first, cell: ({ name }) => name }, ...COLUMNS];
}

/** The breakdown of a row, and its traces. */
interface Links {
  readonly within: string;
  readonly traces: TraceLinks;
}

interface GroupTableProps {
  readonly loaded: LoadedUsage;
  readonly groups: readonly string[];
  readonly measure: Measure;
  readonly hrefOf: (key: UsageStats["groups"][number]["key"]) => Links | undefined;
  readonly all: TraceLinks;
}

/** The groups, then the rest, then the total. */
export function GroupTable({ loaded: { stats, before }, groups, measure, hrefOf, all }: GroupTableProps) {
  const { other, total } = stats;
  const { member } = MEASURES[measure];
  const name = groups.map(nameOfGroup).join(" · ");
  const colors = colorsOf(stats.groups.map(({ key }) => labelOf(key)));
  const earlier = new Map(before?.groups.map((group) => [JSON.stringify(group.key), group.total]));
  const swatch = (color: string) => <i className="swatch" style={{ background: `var(${color})` }} />;
  const rows = stats.groups.map(({ key, total: part }): UsageRow => {
    const label = labelOf(key);
    const links = hrefOf(key);
    const then = earlier.get(JSON.stringify(key));
    const text = (
      <>
        {swatch(colors.get(label) ?? OTHER)}
        <bdi>{oneLine(label, 80)}</bdi>
      </>
    );
    return {
      name: (
        <>
          {links === undefined ? text : <a href={links.within}>{text}</a>}{" "}
          <span className="dim">{shareOf(part[member], total[member])}</span>
        </>
      ),
      total: part,
      links: links?.traces,
      change: (then !== undefined || before?.other === null) && (
        <UsageChange before={then} now={part} measure={measure} />
      ),
    };
  });
  const rest = other && {
    name: (
      <>
        {swatch(OTHER)}
        {counted(other.groups, "other")}
      </>
    ),
    total: other.total,
  };
  const change = before && <UsageChange before={before.total} now={total} measure={measure} />;
  const changes: Column<UsageRow> = { name: "change", kind: "number change", cell: (row) => row.change };
  return (
    <Table
      label={`By ${name}`}
      className="plain groups"
      columns={[...columnsFor(name), ...(before === undefined ? [] : [changes])]}
      rows={rows}
      foot={[...(rest === null ? [] : [rest]), { name: "all", total, links: all, change }]}
      sort={measure === "errors" ? "failed" : measure}
    />
  );
}

function shareOf(part: number | null | undefined, whole: number | null | undefined): string {
  return part == null || !whole ? "" : formatPercent(part / whole).text;
}

interface BucketTableProps {
  readonly stats: UsageStats;
  readonly buckets: Buckets;
  readonly zone: string;
  readonly hovered: number | undefined;
  readonly onHover: (index: number | undefined) => void;
  readonly hrefOf: (bucket: number) => Links;
}

/** Every bucket by the clock of the zone, with the length of unusual days. */
export function BucketTable({ stats, buckets, zone, hrefOf, ...pointing }: BucketTableProps) {
  const rows = stats.buckets.map(({ total }, at): UsageRow => {
    const { within, traces } = hrefOf(at);
    return { name: <a href={within}>{nameOf(buckets, at, zone)}</a>, total, links: traces };
  });
  return (
    <Table
      label="Over time"
      className="plain buckets"
      columns={columnsFor("from")}
      {...{ rows, ...pointing }}
    />
  );
}
