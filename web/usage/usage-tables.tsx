import { useState } from "react";
import type { UsageStats, UsageTotal } from "../api/routes.ts";
import { counted, formatPercent, formatCount } from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";
import { nameOf, type Buckets } from "../components/chart-buckets.ts";
import { Cost, FormattedValue } from "../components/figure.tsx";
import { colorsOf, OTHER } from "./colors.ts";
import type { TraceLinks } from "../state/drill.ts";
import { nameOfGroup } from "../state/groups.ts";
import { MEASURES, type LoadedUsage, type Measure } from "./load-usage.ts";
import { labelOf } from "./stack.ts";
import { Change } from "./usage-summary.tsx";

const COLUMNS = [
  ["calls", "calls", "calls"],
  ["failed", "errors", "errors"],
  ["prompt", "prompt_tokens", "tokens"],
  ["cache read", "cache_read_input_tokens", "tokens"],
  ["cache write", "cache_creation_input_tokens", "tokens"],
  ["completion", "completion_tokens", "tokens"],
  ["tokens", "total_tokens", "tokens"],
  ["cost", "total_cost", "cost"],
] as const satisfies readonly (readonly [string, keyof UsageTotal, keyof TraceLinks])[];
type Column = (typeof COLUMNS)[number][1];

interface HeadProps {
  readonly first: string;
  readonly sort?: Column;
  readonly onSort?: (column: Column) => void;
  readonly hasChange?: boolean;
}

function Head({ first, sort, onSort, hasChange = false }: HeadProps) {
  return (
    <thead>
      <tr>
        <th scope="col">{first}</th>
        {COLUMNS.map(([name, member]) => (
          <th
            key={name}
            scope="col"
            className={`number ${member}`}
            aria-sort={sort === undefined ? undefined : sort === member ? "descending" : "none"}
          >
            {onSort === undefined ? (
              name
            ) : (
              <button className="sort" onClick={() => onSort(member)}>
                {name}
                {sort === member && <span aria-hidden="true"> ↓</span>}
              </button>
            )}
          </th>
        ))}
        {hasChange && (
          <th scope="col" className="number change">
            change
          </th>
        )}
      </tr>
    </thead>
  );
}

function Cells({ total, links }: { readonly total: UsageTotal; readonly links?: TraceLinks | undefined }) {
  return (
    <>
      {COLUMNS.map(([name, member, link]) => {
        const value = total[member] ?? null;
        const isCost = member === "total_cost";
        const figure = isCost ? (
          <Cost total={total} />
        ) : (
          <FormattedValue figure={formatCount(value ?? 0)} dim={value === 0} />
        );
        return (
          <td key={name} className={`number ${isCost ? "cost" : member}`}>
            {links === undefined || value === 0 ? figure : <a href={links[link]}>{figure}</a>}
          </td>
        );
      })}
    </>
  );
}

interface GroupTableProps {
  readonly loaded: LoadedUsage;
  readonly groups: readonly string[];
  readonly measure: Measure;
  /** Links of a group: its breakdown and its traces. */
  readonly hrefOf: (key: UsageStats["groups"][number]["key"]) => Links | undefined;
  readonly all: TraceLinks;
}

/** The breakdown of a row, and its traces. */
interface Links {
  readonly within: string;
  readonly traces: TraceLinks;
}

/** The groups, then the rest, then the total. */
export function GroupTable({ loaded, groups: asked, measure, hrefOf, all }: GroupTableProps) {
  const { groups, other, total } = loaded.stats;
  const { member } = MEASURES[measure];
  const [sort, setSort] = useState<Column>(member);
  const whole = total[member] ?? 0;
  const name = asked.map(nameOfGroup).join(" · ");
  const labels = groups.map(({ key }) => labelOf(key));
  const colors = colorsOf(labels);
  const before = loaded.before;
  const earlier = new Map(before?.groups.map(({ key, total }) => [JSON.stringify(key), total]));
  const isComplete = before !== undefined && before.other === null;
  const sorted = groups.toSorted((a, b) => (b.total[sort] ?? -1) - (a.total[sort] ?? -1));
  return (
    <div className="wide" tabIndex={0} role="region" aria-label={`By ${name}`}>
      <table className="plain groups">
        <Head first={name} sort={sort} onSort={setSort} hasChange={before !== undefined} />
        <tbody>
          {sorted.map(({ key, total }) => {
            const label = labelOf(key);
            const links = hrefOf(key);
            const text = (
              <>
                <i className="swatch" style={{ background: `var(${colors.get(label) ?? OTHER})` }} />
                <bdi>{oneLine(label, 80)}</bdi>
              </>
            );
            const then = earlier.get(JSON.stringify(key));
            return (
              <tr key={JSON.stringify(key)}>
                <th scope="row">
                  {links === undefined ? text : <a href={links.within}>{text}</a>}{" "}
                  <span className="dim">{shareOf(total[member], whole)}</span>
                </th>
                <Cells total={total} links={links?.traces} />
                {before !== undefined && (
                  <td className="number change">
                    {(then !== undefined || isComplete) && (
                      <Change before={then} now={total} measure={measure} />
                    )}
                  </td>
                )}
              </tr>
            );
          })}
          {other !== null && (
            <tr>
              <th scope="row">
                <i className="swatch" style={{ background: `var(${OTHER})` }} />
                {counted(other.groups, "other")}
              </th>
              <Cells total={other.total} />
              {before !== undefined && <td />}
            </tr>
          )}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">all</th>
            <Cells total={total} links={all} />
            {before !== undefined && (
              <td className="number change">
                <Change before={before.total} now={total} measure={measure} />
              </td>
            )}
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

function shareOf(part: number | null | undefined, whole: number): string {
  return part == null || whole === 0 ? "" : formatPercent(part / whole).text;
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
export function BucketTable({ stats, buckets, zone, hovered, onHover, hrefOf }: BucketTableProps) {
  return (
    <div className="wide" tabIndex={0} role="region" aria-label="Over time">
      <table className="plain buckets" onMouseLeave={() => onHover(undefined)}>
        <Head first="from" />
        <tbody>
          {stats.buckets.map(({ timestamp, total }, at) => {
            const { within, traces } = hrefOf(at);
            return (
              <tr
                key={timestamp}
                className={at === hovered ? "hovered" : ""}
                onMouseEnter={() => onHover(at)}
              >
                <th scope="row">
                  <a href={within}>{nameOf(buckets, at, zone)}</a>
                </th>
                <Cells total={total} links={traces} />
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
