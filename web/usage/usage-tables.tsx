import type { UsageStats, UsageTotal } from "../api/routes.ts";
import { dollars, share, tokens } from "../numbers/figure.ts";
import { bucketName } from "../numbers/instants.ts";
import { oneLine } from "../numbers/plain-text.ts";
import { Shown, Unknown } from "../parts/figure.tsx";
import { nameOfGroup } from "./groups.ts";
import { MEASURES, type Measure } from "./load-usage.ts";
import { colorOf, labelOf } from "./stack.ts";

const COLUMNS = [
  ["calls", "calls"],
  ["failed", "errors"],
  ["prompt", "prompt_tokens"],
  ["cache read", "cache_read_input_tokens"],
  ["cache write", "cache_creation_input_tokens"],
  ["completion", "completion_tokens"],
  ["tokens", "total_tokens"],
] as const;

function Head({ first }: { readonly first: string }) {
  return (
    <thead>
      <tr>
        <th scope="col">{first}</th>
        {COLUMNS.map(([name]) => (
          <th key={name} scope="col" class="number">
            {name}
          </th>
        ))}
        <th scope="col" class="number">
          cost
        </th>
      </tr>
    </thead>
  );
}

interface CellsProps {
  readonly total: UsageTotal;
  /** It includes models without a price, so the cost is a lower bound. */
  readonly isPartial?: boolean;
}

function Cells({ total, isPartial = false }: CellsProps) {
  const cost = total.total_cost ?? null;
  return (
    <>
      {COLUMNS.map(([name, member]) => (
        <td key={name} class="number">
          <Shown figure={tokens(total[member])} dim={total[member] === 0} />
        </td>
      ))}
      <td class="number cost">
        {cost === null ? (
          <Unknown why="no price is known for its models" />
        ) : (
          <>
            {isPartial && "≥ "}
            <Shown figure={dollars(cost)} dim={cost === 0} />
          </>
        )}
      </td>
    </>
  );
}

interface GroupTableProps {
  readonly stats: UsageStats;
  readonly groups: readonly string[];
  readonly measure: Measure;
}

/** The groups, largest first, then the rest, then the total. */
export function GroupTable({ stats, groups: asked, measure }: GroupTableProps) {
  const { groups, other, total } = stats;
  const whole = total[MEASURES[measure].member] ?? 0;
  const name = asked.map(nameOfGroup).join(" · ");
  return (
    <div class="wide" tabIndex={0} role="region" aria-label={`By ${name}`}>
      <table class="groups">
        <Head first={name} />
        <tbody>
          {groups.map(({ key, total }, at) => (
            <tr key={JSON.stringify(key)}>
              <th scope="row">
                <i class="swatch" style={{ background: `var(${colorOf(at)})` }} />{" "}
                <bdi>{oneLine(labelOf(key), 80)}</bdi>{" "}
                <span class="dim">{shareOf(total[MEASURES[measure].member], whole)}</span>
              </th>
              <Cells total={total} />
            </tr>
          ))}
          {other !== null && (
            <tr>
              <th scope="row">
                <i class="swatch" style={{ background: `var(${colorOf(Infinity)})` }} />{" "}
                {tokens(other.groups).text} others
              </th>
              <Cells total={other.total} />
            </tr>
          )}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">all</th>
            <Cells total={total} isPartial={(stats.unpriced ?? []).length > 0} />
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

function shareOf(part: number | null | undefined, whole: number): string {
  return part == null || whole === 0 ? "" : share(part / whole).text;
}

interface BucketTableProps {
  readonly stats: UsageStats;
  readonly zone: string;
  readonly hovered: number | undefined;
  readonly onHover: (index: number | undefined) => void;
}

/** Every bucket by the clock of the zone, with the length of unusual days. */
export function BucketTable({ stats, zone, hovered, onHover }: BucketTableProps) {
  const { buckets, granularity } = stats;
  const times = buckets.map(({ timestamp }) => Date.parse(timestamp));
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Over time">
      <table class="buckets" onMouseLeave={() => onHover(undefined)}>
        <Head first="from" />
        <tbody>
          {buckets.map(({ timestamp, total }, at) => (
            <tr key={timestamp} class={at === hovered ? "hovered" : ""} onMouseEnter={() => onHover(at)}>
              <th scope="row">{bucketName(times[at] ?? 0, times[at + 1], { zone, granularity })}</th>
              <Cells total={total} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
