import type { UsageStats } from "../api/routes.ts";
import { counted, formatPercent } from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";
import { nameOf, type Buckets } from "../components/chart-buckets.ts";
import { Spark } from "../components/spark.tsx";
import { Table, type Column } from "../components/table.tsx";
import type { TraceLinks } from "../state/drill.ts";
import { ERROR, labelOf, nameOfGroup } from "../state/groups.ts";
import { colorsOf, OTHER } from "./colors.ts";
import type { LoadedUsage } from "./load-usage.ts";
import { MEASURES } from "./measures.ts";
import { columnsOf, TREND, type UsageRow } from "./usage-columns.tsx";

/** The breakdown of a row, and its traces. */
interface Links {
  readonly within: string;
  readonly traces: TraceLinks;
}

interface UsageTableProps {
  readonly loaded: LoadedUsage;
  readonly buckets: Buckets;
  /** A row for each bucket instead of each group. */
  readonly isOverTime: boolean;
  readonly hovered: number | undefined;
  readonly onHover: (index: number | undefined) => void;
  readonly linksOf: (key: UsageStats["groups"][number]["key"]) => Links | undefined;
  readonly linksAt: (bucket: number) => Links;
  readonly all: TraceLinks;
  /** Columns after those of the measures. */
  readonly more: readonly Column<UsageRow>[];
}

/** The groups, then the rest, then the total; or every bucket by the clock of the zone. */
export function UsageTable({ isOverTime, hovered, onHover, ...props }: UsageTableProps) {
  const { stats, before, question } = props.loaded;
  const { of, groups, measure } = question;
  const names = groups.map(nameOfGroup).join(" · ");
  const [name, ...columns] = columnsOf(isOverTime ? "from" : names, of, measure);
  const { addsUp = false, label } = MEASURES[measure];
  const rest: UsageRow | null = stats.other && {
    name: <Named color={OTHER} text={counted(stats.other.groups, "other")} />,
    total: stats.other.total,
  };
  const total: UsageRow = {
    name: "all",
    // what a search leaves is not all
    ...(question.text === "" && { key: {} }),
    total: stats.total,
    links: props.all,
    before: before?.total,
  };
  return (
    <Table
      key={`${isOverTime} ${names} ${measure} ${of}`}
      label={isOverTime ? "Over time" : `By ${names}`}
      className={`plain ${isOverTime ? "buckets" : "groups"}`}
      columns={[name!, ...(groups.includes(ERROR) && !isOverTime ? TREND : []), ...columns, ...props.more]}
      rows={isOverTime ? bucketRows(props) : groupRows(props)}
      foot={isOverTime ? [total] : [rest ?? [], total].flat()}
      {...(isOverTime ? { hovered, onHover } : { sort: addsUp ? label.toLowerCase() : "cost" })}
    />
  );
}

type Place = Omit<UsageTableProps, "isOverTime" | "hovered" | "onHover">;

function bucketRows({ loaded: { stats, question }, buckets, linksAt }: Place): readonly UsageRow[] {
  return stats.buckets.map(({ total }, at) => {
    const { within, traces } = linksAt(at);
    return { name: <a href={within}>{nameOf(buckets, at, question.zone)}</a>, total, links: traces };
  });
}

function groupRows({ loaded: { stats, before, question }, buckets, linksOf }: Place): readonly UsageRow[] {
  const { groups, measure, zone } = question;
  const { valueOf, addsUp = false } = MEASURES[measure];
  const ids = stats.groups.map(({ key }) => JSON.stringify(key));
  const colors = colorsOf(ids);
  const earlier = new Map(before?.groups.map(({ key, total }) => [JSON.stringify(key), total]));
  const whole = addsUp ? (valueOf(stats.total) ?? 0) : 0;
  return stats.groups.map(({ key, total }, at): UsageRow => {
    const links = linksOf(key);
    const text = (
      <Named
        color={colors.get(ids[at]!) ?? OTHER}
        text={labelOf(key)}
        title={Object.values(key).join(" · ")}
      />
    );
    const totals = stats.buckets.map((bucket) => bucket.groups[at]);
    const last = totals.findLastIndex((one) => one != null);
    return {
      name: (
        <>
          {links === undefined ? text : <a href={links.within}>{text}</a>}{" "}
          {whole > 0 && <span className="dim">{formatPercent((valueOf(total) ?? 0) / whole).text}</span>}
        </>
      ),
      key,
      total,
      links: links?.traces,
      // what is not among the groups that are listed may have been there
      before: before && (earlier.get(ids[at]!) ?? (before.other === null ? null : undefined)),
      ...(groups.includes(ERROR) && {
        isAtLeast: stats.other !== null,
        trend: <Spark buckets={buckets} values={totals.map((one) => one?.traces ?? one?.errors ?? 0)} />,
        lastSeen: last < 0 ? "" : nameOf(buckets, last, zone),
      }),
    };
  });
}

function Named({ color, text, title = "" }: { color: string; text: string; title?: string }) {
  return (
    <>
      <i className="swatch" style={{ background: `var(${color})` }} />
      <bdi title={oneLine(title)}>{oneLine(text, 80)}</bdi>
    </>
  );
}
