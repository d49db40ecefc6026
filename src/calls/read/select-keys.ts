import type { Engine } from "../../store/engine.ts";
import { selectCalls, type SelectOptions } from "../../query/select-calls.ts";
import { AT_HOUR, ofProject, eventInHours } from "../../query/hour-buckets.ts";
import { param, sql } from "../../query/sql.ts";
import { ALL_HOURS, type HourRange } from "../../query/bounds/time-range.ts";
import { hasMoreThan, KEY_COLUMNS, readKeys, type CallRowKey } from "./call-keys.ts";
import { tokenAfter, type Pages, type TimeOrder } from "./page-token.ts";
import type { ListPlan } from "./plan.ts";

/** Selected calls, in order, still encoded: a million take about 80 MB. */
interface KeyPage {
  readonly keys: Iterator<CallRowKey>;
  /** True if more calls match than `limit`. */
  readonly truncated: boolean;
  /** Token of the next page; `undefined` on the last page or if the order has no pages. */
  readonly nextPage: string | undefined;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
  readonly signal: AbortSignal;
}

/** Maximum `offset + limit` of a walk; beyond it a single read is as fast. */
const MAX_WALKED = 10_000;
/** Maximum growth of the hours per step, if the previous step found too few calls. */
const GROWTH = 4;

/** Selects calls: pages by time walk from the oldest or newest hour, other selections read the whole project. */
export async function selectKeys(engine: Engine, plan: ListPlan, page: Page): Promise<KeyPage> {
  const { limit, offset, signal } = page;
  if (plan.pages !== undefined && !plan.namesCalls && offset + limit <= MAX_WALKED) {
    return walk(engine, { ...plan, pages: plan.pages }, page);
  }
  const bytes = await encodedKeys(engine, { ...plan, limit: limit + 1, offset }, signal);
  const truncated = hasMoreThan(limit, bytes);
  return {
    keys: readKeys(bytes).take(limit),
    truncated,
    nextPage: truncated ? tokenOf(plan, bytes, limit) : undefined,
  };
}

function encodedKeys(
  engine: Engine,
  selection: Omit<SelectOptions, "columns">,
  signal: AbortSignal,
): Promise<Buffer> {
  const statement = selectCalls({ ...selection, columns: KEY_COLUMNS });
  return engine.bytes(statement, "RowBinary", { name: "calls_select", limits: "heavy", signal });
}

function tokenOf({ pages }: ListPlan, bytes: Buffer, limit: number): string | undefined {
  if (pages === undefined || limit === 0) return undefined;
  const last = readKeys(bytes)
    .drop(limit - 1)
    .next().value;
  return last && tokenAfter(last, pages);
}

type OrderedPlan = ListPlan & { readonly pages: Pages };

/** Reads hours in order, more per step, until there are enough calls. */
async function walk(engine: Engine, plan: OrderedPlan, { limit, offset, signal }: Page): Promise<KeyPage> {
  const needed = offset + limit + 1;
  const found: CallRowKey[] = [];
  let rest = plan.startedIn ?? ALL_HOURS;
  let count = 1;
  while (found.length < needed) {
    const before = found.length;
    const hours = await nextHours(engine, plan, { within: rest, count, signal });
    if (hours === undefined) break;
    const selection = { ...plan, startedIn: hours, limit: needed - found.length };
    for (const key of readKeys(await encodedKeys(engine, selection, signal))) found.push(key);
    rest = restOf(rest, hours, plan.pages.order);
    count = nextCount(count, { found: found.length - before, missing: needed - found.length });
  }
  const truncated = found.length === needed;
  const keys = found.slice(offset, offset + limit);
  const last = keys.at(-1);
  const nextPage = truncated && last !== undefined ? tokenAfter(last, plan.pages) : undefined;
  return { keys: keys.values(), truncated, nextPage };
}

/** The number of hours that would be enough if they had as many calls as those before. */
function nextCount(hours: number, { found, missing }: { found: number; missing: number }): number {
  return Math.min(hours * GROWTH, Math.max(1, Math.ceil((missing * hours) / found)));
}

function restOf({ from, to }: HourRange, read: HourRange, order: TimeOrder): HourRange {
  return order === "asc" ? { from: read.to + 1, to } : { from, to: read.from - 1 };
}

/** Finds the next hours in which calls began; `undefined` if there are none. */
async function nextHours(
  engine: Engine,
  { project, pages }: OrderedPlan,
  { within, count, signal }: { within: HourRange; count: number; signal: AbortSignal },
): Promise<HourRange | undefined> {
  const [row] = await engine.rows<{ first: number; last: number; hours: number }>(
    sql`SELECT min(at_hour) AS first, max(at_hour) AS last, count() AS hours FROM
          (SELECT ${AT_HOUR.started} AS at_hour FROM calls WHERE ${eventInHours(ofProject(project), { kind: "started", range: within })}
           GROUP BY at_hour ORDER BY at_hour ${pages.order === "asc" ? sql`ASC` : sql`DESC`} LIMIT ${param("UInt32", count)})
        SETTINGS apply_mutations_on_fly = 0`,
    { name: "calls_hours", limits: "heavy", signal },
  );
  return row === undefined || row.hours === 0 ? undefined : { from: row.first, to: row.last };
}
