import type { Engine } from "../store/engine.ts";
import { inTracesOfHours, inTraceHours, type HourRange } from "../query/index.ts";
import { hourBucketsOf, ofProject } from "../query/hour-buckets.ts";
import { inHoursOf } from "../query/key-range.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import { assertNever } from "../shared/assert-never.ts";
import { release } from "../shared/buffers.ts";
import { inTurns } from "../fairness/turns.ts";
import { selectedTraces, type CallsPlan } from "./plan.ts";
import { readTraceHours } from "./read/read-trace-hours.ts";
import { chooseCalls } from "./read/choose-calls.ts";
import { countTraces } from "./read/count-traces.ts";
import { rowBytes, type RowsToRead } from "./read/row-bytes.ts";
import { groupTraces, readAhead } from "./read/trace-groups.ts";
import type { KnownTrace, SelectedTrace } from "./selection.ts";
import { isSelected, releaseCalls, type CallTable } from "./table/call-table.ts";
import type { LlmDictionary } from "./table/llm-dictionary.ts";
import type { MoreColumns } from "./table/more-columns.ts";
import { callTableSteps } from "./table/read-call-table.ts";

export interface ReadOptions<More> {
  /** Dictionary of the LLMs of all tables. */
  readonly names: LlmDictionary;
  readonly columns: MoreColumns<More>;
  /** True if parents are needed only as far as a call's own usage depends on them. */
  readonly forOwn?: boolean;
  /** Maximum calls per response. */
  readonly maxCalls: number;
  /** Creates the error for more calls; `what`: such as "12 calls". */
  readonly tooMany: (what: string) => Error;
  readonly signal: AbortSignal;
}

/** Calls of whole traces; the consumer releases them. */
export interface ReadTable<More> {
  readonly calls: CallTable;
  readonly more: More;
}

/** Tables of calls, and what response headers and errors need before the first table. */
export interface FoundCalls<More> {
  /** True if more calls match than the plan's limit; the oldest are selected. */
  readonly truncated: boolean;
  readonly traceCount: number;
  /** Groups of traces, read ahead. */
  readonly tables: AsyncIterable<ReadTable<More>>;
}

/** Reads all calls of the selected calls' traces. Throws `StorageError`; `tooMany`, also between tables. */
export async function readCalls<More>(
  engine: Engine,
  plan: CallsPlan,
  options: ReadOptions<More>,
): Promise<FoundCalls<More>> {
  const { strategy } = plan;
  switch (strategy.kind) {
    case "one trace":
      return (
        (await readOneTrace(engine, plan, strategy.traceId, options)) ?? readChosen(engine, plan, options)
      );
    case "short window":
      return (await readShortWindow(engine, plan, strategy, options)) ?? readCounted(engine, plan, options);
    case "counted traces":
      return readCounted(engine, plan, options);
    case "chosen calls":
      return readChosen(engine, plan, options);
    case "known traces":
      return readTraces(engine, plan, strategy.traces, options);
    default:
      return assertNever(strategy);
  }
}

/** `undefined` if more calls are selected than the plan's limit. */
async function readOneTrace<More>(
  engine: Engine,
  plan: CallsPlan,
  traceId: string,
  options: ReadOptions<More>,
): Promise<FoundCalls<More> | undefined> {
  const hours = await readTraceHours(engine, plan.project, [traceId], options.signal);
  const where = inTraceHours((hours.get(traceId) ?? []).map((hour) => ({ hour, traceId })));
  const rows = { ...rowsOf(plan, options), where, limit: options.maxCalls + 1, ofTraces: false };
  const bytes = await rowBytes(engine, rows, options.signal);
  const table = await decode(bytes, [{ traceId, ids: undefined }], options);
  checkCallCount(table, options);
  return unlessTooMany(table, plan, options.maxCalls);
}

/** Number of calls up to which reading is as fast as counting. */
const MAX_AT_ONCE = 50_000;

/**
 * Reads the window's hours, under which nearly all of its calls are stored, while checking for calls under other hours; reads
 * again if there are any. `undefined` if there are more than `MAX_AT_ONCE` calls, or more are selected than the plan's limit.
 */
async function readShortWindow<More>(
  engine: Engine,
  plan: CallsPlan,
  { started, isWhole }: { readonly started: HourRange; readonly isWhole: boolean },
  options: ReadOptions<More>,
): Promise<FoundCalls<More> | undefined> {
  const { project } = plan;
  const most = Math.min(MAX_AT_ONCE, options.maxCalls);
  const read = (inHours: Sql): Promise<Buffer> => {
    const where = isWhole
      ? inTracesOfHours(project, inHours)
      : selectedTraces(plan, { inHours, where: inHours });
    return rowBytes(
      engine,
      { ...rowsOf(plan, options), where, limit: most + 1, ofTraces: true },
      options.signal,
    );
  };
  const inWindow = sql`hour BETWEEN ${param("Int64", started.from)} AND ${param("Int64", started.to)}`;
  const otherHours = engine.rows(
    sql`SELECT hour FROM (${hourBucketsOf(ofProject(project), { kind: "started", range: started })}) WHERE NOT ${inWindow} LIMIT 1`,
    { name: "usage_hours", limits: "heavy", signal: options.signal },
  );
  const [elsewhere, guessed] = await Promise.all([otherHours, read(inWindow)]);
  let bytes = guessed;
  if (elsewhere.length > 0) {
    release(guessed);
    bytes = await read(inHoursOf(project, { started, ended: undefined })!);
  }
  return unlessTooMany(await decode(bytes, undefined, options), plan, most);
}

async function readCounted<More>(
  engine: Engine,
  plan: CallsPlan,
  options: ReadOptions<More>,
): Promise<FoundCalls<More>> {
  const traces = await countTraces(engine, plan, plan.whereTraces, options.signal);
  const selected = traces.reduce((sum, trace) => sum + trace.selectedCount, 0);
  if (plan.limit !== undefined && selected > plan.limit) return readChosen(engine, plan, options);
  return readTraces(engine, plan, traces, options);
}

/** Ids of chosen calls are all in memory. */
const MAX_CHOSEN = 1_000_000;

async function readChosen<More>(
  engine: Engine,
  plan: CallsPlan,
  options: ReadOptions<More>,
): Promise<FoundCalls<More>> {
  const most = plan.limit ?? Math.min(options.maxCalls, MAX_CHOSEN);
  const { traces, truncated } = await chooseCalls(engine, plan, most, options.signal);
  if (truncated && plan.limit === undefined)
    throw options.tooMany(`more than ${most} calls that match the query`);
  return { ...readTraces(engine, plan, traces, options), truncated };
}

function readTraces<More>(
  engine: Engine,
  plan: CallsPlan,
  traces: readonly SelectedTrace[],
  options: ReadOptions<More>,
): FoundCalls<More> {
  const callCount = traces.reduce((sum, trace) => sum + trace.callCount, 0);
  if (callCount > options.maxCalls) throw options.tooMany(`${callCount} calls`);
  const tables = tablesOf(engine, plan, traces, options);
  return { truncated: false, traceCount: traces.length, tables };
}

async function* tablesOf<More>(
  engine: Engine,
  plan: CallsPlan,
  traces: readonly SelectedTrace[],
  options: ReadOptions<More>,
): AsyncGenerator<ReadTable<More>> {
  const read = async (group: readonly SelectedTrace[]): Promise<[readonly SelectedTrace[], Buffer]> => {
    const where = inTraceHours(
      group.flatMap(({ hours, traceId }) => hours.map((hour) => ({ hour, traceId }))),
    );
    const ofTraces = group.length > 1;
    const selected = group[0]!.ids === undefined ? rowsOf(plan, options) : chosenRowsOf(plan, options);
    const rows = { ...selected, where, limit: options.maxCalls + 1, ofTraces };
    return [group, await rowBytes(engine, rows, options.signal)];
  };
  for await (const [group, bytes] of readAhead(groupTraces(traces), read)) {
    const table = await decode(bytes, group, options);
    checkCallCount(table, options);
    yield table;
  }
}

type SelectedRows = Pick<RowsToRead, "project" | "condition" | "more">;

function rowsOf<More>({ project, condition }: CallsPlan, { columns }: ReadOptions<More>): SelectedRows {
  return { project, condition, more: columns.select(condition) };
}

/** Rows of calls selected by id. */
function chosenRowsOf<More>({ project }: CallsPlan, { columns }: ReadOptions<More>): SelectedRows {
  return { project, condition: sql`0`, more: columns.select(sql`1`) };
}

async function decode<More>(
  bytes: Buffer,
  traces: readonly KnownTrace[] | undefined,
  { names, columns, forOwn = false }: ReadOptions<More>,
): Promise<ReadTable<More>> {
  const { more, readMore } = columns.open(bytes);
  return { calls: await inTurns(callTableSteps(bytes, traces, names, { readMore, forOwn })), more };
}

/** Throws if a table has more than `maxCalls`, as more calls may arrive after counting. */
function checkCallCount<More>({ calls }: ReadTable<More>, { maxCalls, tooMany }: ReadOptions<More>): void {
  if (calls.count > maxCalls) throw tooMany(`more than ${maxCalls} calls`);
}

/** Wraps the only table; `undefined`, releasing it, if it exceeds a limit. */
function unlessTooMany<More>(
  table: ReadTable<More>,
  { limit = Number.POSITIVE_INFINITY }: CallsPlan,
  mostCalls: number,
): FoundCalls<More> | undefined {
  const { calls } = table;
  if (calls.count > mostCalls || countSelected(calls) > limit) {
    releaseCalls(calls);
    return undefined;
  }
  return { truncated: false, traceCount: calls.traceCount, tables: only(table) };
}

async function* only<Item>(item: Item): AsyncGenerator<Item> {
  yield item;
}

function countSelected(calls: CallTable): number {
  let count = 0;
  for (let call = 0; call < calls.count; call++) if (isSelected(calls, call)) count++;
  return count;
}
