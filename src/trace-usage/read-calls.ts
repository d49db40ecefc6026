import type { Engine } from "../store/engine.ts";
import { aroundHours, inPlaces, inTraces, type HourRange } from "../query/index.ts";
import { hourBucketsOf, ofProject } from "../query/hour-buckets.ts";
import { inHoursOf } from "../query/key-range.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import { assertNever } from "../shared/assert-never.ts";
import { release } from "../shared/buffers.ts";
import { inTurns } from "../fairness/turns.ts";
import { selectedTraces, type CallsPlan } from "./plan.ts";
import { chooseCalls } from "./read/choose-calls.ts";
import { countTraces } from "./read/count-traces.ts";
import { rowBytes, type RowsToRead } from "./read/row-bytes.ts";
import { groupTraces, readAhead } from "./read/trace-groups.ts";
import type { KnownTrace, SelectedTrace } from "./selection.ts";
import { isSelected, releaseCalls, type CallTable } from "./table/call-table.ts";
import type { LlmDictionary } from "./table/llm-dictionary.ts";
import { callTableSteps, type ReadMore } from "./table/read-call-table.ts";

/** Columns besides those that the fold needs. */
export interface ExtraColumns<More> {
  /** Each behind a comma. `selected`: whether a call may be selected; what others have is not looked at. */
  readonly select: (selected: Sql) => Sql;
  /** What reads them of the bytes of a table. */
  readonly open: (bytes: Buffer) => { readonly more: More; readonly readBlock: ReadMore | undefined };
}

export const NO_MORE_COLUMNS: ExtraColumns<undefined> = {
  select: () => sql``,
  open: () => ({ more: undefined, readBlock: undefined }),
};

export interface ReadOptions<More> {
  /** Numbers the LLMs of all tables. */
  readonly names: LlmDictionary;
  readonly columns: ExtraColumns<More>;
  /** Whether parents are needed only where what is a call's own depends on them. */
  readonly forOwn?: boolean;
  /** The most calls that are read for one answer. */
  readonly maxCalls: number;
  /** The error for more, such as "12 calls". */
  readonly tooMany: (what: string) => Error;
  readonly signal: AbortSignal;
}

/** All calls of some whole traces. Who reads them releases them. */
export interface ReadTable<More> {
  readonly calls: CallTable;
  readonly more: More;
}

/** What is known before the first table: everything that an answer's head, or an error, must say. */
export interface FoundCalls<More> {
  /** More calls are selected than the plan allows: of these the oldest are. */
  readonly truncated: boolean;
  readonly traceCount: number;
  /** Known before the first table: every trace that is read has a call without a parent. */
  readonly allHaveRoots: boolean;
  /** Some traces at a time, while the engine reads the next ones. */
  readonly tables: AsyncIterable<ReadTable<More>>;
}

/** Reads all calls of the selected calls' traces. Errors: `StorageError`; `tooMany`, also between tables. */
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

/** Undefined: more calls are selected than the plan allows. */
async function readOneTrace<More>(
  engine: Engine,
  plan: CallsPlan,
  traceId: string,
  options: ReadOptions<More>,
): Promise<FoundCalls<More> | undefined> {
  const where = inTraces(plan.project, [traceId]);
  const rows = { ...rowsOf(plan, options), where, limit: options.maxCalls + 1, ofTraces: false };
  const bytes = await rowBytes(engine, rows, options.signal);
  const table = await decode(bytes, [{ traceId, ids: undefined }], options);
  refuseMore(table, options);
  return unlessTooMany(table, plan, options.maxCalls);
}

/** So many calls are as well read as counted. */
const MAX_AT_ONCE = 50_000;

/**
 * Nearly all calls lie under the hours in which they started, so these are read at once; beside it, whether some lie under
 * others. Undefined: more calls than are read at once, or more are selected than the plan allows.
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
    const where = isWhole ? aroundHours(project, inHours) : selectedTraces(plan, { inHours, where: inHours });
    return rowBytes(
      engine,
      { ...rowsOf(plan, options), where, limit: most + 1, ofTraces: true },
      options.signal,
    );
  };
  const inWindow = sql`hour BETWEEN ${param("Int64", started.from)} AND ${param("Int64", started.to)}`;
  const lieElsewhere = engine.rows(
    sql`SELECT hour FROM (${hourBucketsOf(ofProject(project), { kind: "started", range: started })}) WHERE NOT ${inWindow} LIMIT 1`,
    { name: "usage_hours", limits: "heavy", signal: options.signal },
  );
  const [elsewhere, guessed] = await Promise.all([lieElsewhere, read(inWindow)]);
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

/** Calls that are chosen by their ids are all in memory. */
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
  return { truncated: false, traceCount: traces.length, allHaveRoots: false, tables };
}

async function* tablesOf<More>(
  engine: Engine,
  plan: CallsPlan,
  traces: readonly SelectedTrace[],
  options: ReadOptions<More>,
): AsyncGenerator<ReadTable<More>> {
  const read = async (group: readonly SelectedTrace[]): Promise<[readonly SelectedTrace[], Buffer]> => {
    const where = inPlaces(group.flatMap(({ hours, traceId }) => hours.map((hour) => ({ hour, traceId }))));
    const ofTraces = group.length > 1;
    const selected = group[0]!.ids === undefined ? rowsOf(plan, options) : chosenRowsOf(plan, options);
    const rows = { ...selected, where, limit: options.maxCalls + 1, ofTraces };
    return [group, await rowBytes(engine, rows, options.signal)];
  };
  for await (const [group, bytes] of readAhead(groupTraces(traces), read)) {
    const table = await decode(bytes, group, options);
    refuseMore(table, options);
    yield table;
  }
}

type SelectedRows = Pick<RowsToRead, "project" | "condition" | "more">;

function rowsOf<More>({ project, condition }: CallsPlan, { columns }: ReadOptions<More>): SelectedRows {
  return { project, condition, more: columns.select(condition) };
}

/** Their ids say which calls are selected. */
function chosenRowsOf<More>({ project }: CallsPlan, { columns }: ReadOptions<More>): SelectedRows {
  return { project, condition: sql`0`, more: columns.select(sql`1`) };
}

async function decode<More>(
  bytes: Buffer,
  traces: readonly KnownTrace[] | undefined,
  { names, columns, forOwn = false }: ReadOptions<More>,
): Promise<ReadTable<More>> {
  const { more, readBlock } = columns.open(bytes);
  return {
    calls: await inTurns(callTableSteps(bytes, traces, names, { readMore: readBlock, forOwn })),
    more,
  };
}

/** More than were counted, or than may be read, have come. */
function refuseMore<More>({ calls }: ReadTable<More>, { maxCalls, tooMany }: ReadOptions<More>): void {
  if (calls.count > maxCalls) throw tooMany(`more than ${maxCalls} calls`);
}

/** A table that is all there is. */
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
  const { traceCount, allHaveRoots } = calls;
  return { truncated: false, traceCount, allHaveRoots, tables: only(table) };
}

async function* only<Item>(item: Item): AsyncGenerator<Item> {
  yield item;
}

function countSelected(calls: CallTable): number {
  let count = 0;
  for (let call = 0; call < calls.count; call++) if (isSelected(calls, call)) count++;
  return count;
}
