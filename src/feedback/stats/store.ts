import type { Engine, QueryOptions } from "../../store/engine.ts";
import { isTooManyBytes } from "../../store/rows/read-in-pages.ts";
import type { ProviderOf } from "../../usage/usage.ts";
import { sql, trusted, type Sql } from "../../query/sql.ts";
import { AppError } from "../../shared/errors.ts";
import { parseJsonText } from "../../shared/escaped-keys.ts";
import { countCalls, groupKeysOf, selectLlms, type Providers } from "./group-keys.ts";
import type { PathRow } from "./paths.ts";
import { roomForRows, type GroupedPlan, type StatsPlan } from "./plan.ts";
import { printGroupedStatement, printStatement, type StatsRow } from "./statement.ts";

export interface StatsReading {
  readonly providerOf: ProviderOf;
  /** Maximum number of calls that grouped feedback is about. */
  readonly maxCalls: number;
  readonly signal: AbortSignal;
}

/** Reads the rows of a plan; none if the window has no buckets. Errors: as `read`; too_many_calls with groups. */
export async function readStats(
  engine: Engine,
  plan: StatsPlan,
  reading: StatsReading,
): Promise<readonly StatsRow[]> {
  const { buckets, grouping } = plan;
  if (buckets.startsUs.length === 0) return [];
  if (grouping !== undefined) return readGrouped(engine, { ...plan, grouping }, reading);
  return read(engine, printStatement(plan), { name: "feedback_stats", signal: reading.signal });
}

/** A group's key can be as long as a payload. */
const MAX_RESULT_BYTES = 64 * 1024 * 1024;

async function readGrouped(
  engine: Engine,
  plan: GroupedPlan,
  reading: StatsReading,
): Promise<readonly StatsRow[]> {
  const { rows, grouping } = plan;
  const { maxCalls, signal } = reading;
  const options = { name: "feedback_stats", limits: "heavy", signal } as const;
  const [{ calls } = { calls: 0 }] = await read<{ calls: number }>(engine, countCalls(rows), options);
  if (calls > maxCalls)
    throw tooManyCalls(`The feedback is about ${calls} calls, at most ${maxCalls} can be grouped.`);
  const keys = groupKeysOf(rows, grouping.dimensions, await readProviders(engine, plan, reading));
  return read(engine, sql`${printGroupedStatement(plan, keys)} ${settings(roomForRows(plan))}`, options);
}

/** Prints `/` as it is, not as `\\/`. The index makes lookups of many calls ten times slower. */
function settings(maxRows: number): Sql {
  const bounds = `max_result_rows = ${maxRows}, max_result_bytes = ${MAX_RESULT_BYTES},
    use_index_for_in_with_subqueries_max_values = 100000`;
  return trusted(`SETTINGS output_format_json_escape_forward_slashes = 0, ${bounds}`);
}

const MAX_LLMS = 10_000;

/** Looks up the providers of the calls' LLMs, if requested. Errors: as `readGrouped`. */
async function readProviders(
  engine: Engine,
  { rows, grouping }: GroupedPlan,
  { providerOf, signal }: StatsReading,
): Promise<Providers> {
  if (!grouping.dimensions.all.some(({ source }) => source === "provider")) return new Map();
  const options = { name: "feedback_llms", limits: "heavy", signal } as const;
  const statement = sql`${selectLlms(rows)} ${settings(MAX_LLMS)}`;
  const found = await read<{ used: string }>(engine, statement, options);
  return new Map(
    found.map(({ used }) => {
      const [llm, servedBy] = parseJsonText(used) as [string, string];
      return [used, llm === "" ? null : providerOf(llm, servedBy || undefined)];
    }),
  );
}

function tooManyCalls(what: string): AppError {
  const remedy = "Request a shorter window, fewer groups (limit) or larger buckets.";
  return new AppError("too_many_calls", `${what} ${remedy}`);
}

/** Reads the paths of a sample; `MAX_PATHS` + 1 if there are more. Errors: as `read`. */
export function readPaths(engine: Engine, statement: Sql, signal: AbortSignal): Promise<readonly PathRow[]> {
  return read(engine, statement, { name: "feedback_paths", signal });
}

/** Runs a statement. Errors: `StorageError`; too_many_calls. */
async function read<Row>(engine: Engine, statement: Sql, options: QueryOptions): Promise<readonly Row[]> {
  try {
    return await engine.rows<Row>(statement, options);
  } catch (error) {
    throw isTooManyBytes(error) ? tooManyCalls("The response would be too large.") : error;
  }
}
