import type { Engine } from "../store/engine.ts";
import { inTracesOfHours, inTraceHours } from "../query/trace-hours.ts";
import { IS_VISIBLE } from "../query/fields/columns.ts";
import type { HourRange } from "../query/bounds/time-range.ts";
import { hourBucketsOf, ofProject } from "../query/hour-buckets.ts";
import { inHoursOf } from "../query/key-range.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import { assertNever } from "../shared/assert-never.ts";
import { release } from "../shared/buffers.ts";
import { inTurns } from "../fairness/turns.ts";
import { selectedTraces, type CallsPlan, type SelectedTrace, type ShortWindow } from "./plan.ts";
import { chooseCalls, countTraces, readTraceHours } from "./read/traces-of-calls.ts";
import { groupTraces, readAhead } from "./read/trace-groups.ts";
import { isSelected, type CallTable } from "./table/call-table.ts";
import type { LlmDictionary } from "./table/llm-dictionary.ts";
import type { KnownTrace } from "./table/trace-dictionary.ts";
import type { MoreColumns } from "./table/more-columns.ts";
import { callTableSteps, foldColumns } from "./table/read-call-table.ts";

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

/** Calls of whole traces; disposal releases them. */
export interface ReadTable<More> extends Disposable {
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
  const reader = new CallReader(engine, plan, options);
  switch (strategy.kind) {
    case "one trace":
      return reader.oneTrace(strategy.traceId);
    case "short window":
      return reader.shortWindow(strategy);
    case "counted traces":
      return reader.countedTraces();
    case "chosen calls":
      return reader.chosenCalls();
    case "known traces":
      return reader.traces(strategy.traces);
    default:
      return assertNever(strategy);
  }
}

/** Number of calls up to which reading is as fast as counting. */
const MAX_AT_ONCE = 50_000;
/** Ids of chosen calls are all in memory. */
const MAX_CHOSEN = 1_000_000;

class CallReader<More> {
  private readonly engine: Engine;
  private readonly plan: CallsPlan;
  private readonly options: ReadOptions<More>;

  constructor(engine: Engine, plan: CallsPlan, options: ReadOptions<More>) {
    this.engine = engine;
    this.plan = plan;
    this.options = options;
  }

  /** Reads a trace at once; chooses calls if more are selected than the plan's limit. */
  async oneTrace(traceId: string): Promise<FoundCalls<More>> {
    const hours = await readTraceHours(this.engine, this.plan.project, [traceId], this.options.signal);
    const where = inTraceHours((hours.get(traceId) ?? []).map((hour) => ({ hour, traceId })));
    const bytes = await this.rows(where, { ofTraces: false, limit: this.options.maxCalls + 1 });
    const table = await this.decode(bytes, [{ traceId, ids: undefined }]);
    this.checkCount(table);
    if (!this.selectsTooMany(table)) return whole(table);
    table[Symbol.dispose]();
    return this.chosenCalls();
  }

  /**
   * Reads the window's hours, under which nearly all of its calls are stored, while checking for calls under other hours; reads
   * again if there are any. Counts the traces instead if there are more than `MAX_AT_ONCE` calls, or more are selected than
   * the plan's limit.
   */
  async shortWindow({ started, isWhole }: ShortWindow): Promise<FoundCalls<More>> {
    const { project } = this.plan;
    const most = Math.min(MAX_AT_ONCE, this.options.maxCalls);
    const read = (inHours: Sql): Promise<Buffer> => {
      const where = isWhole
        ? inTracesOfHours(project, inHours)
        : selectedTraces(this.plan, { inHours, where: inHours });
      return this.rows(where, { ofTraces: true, limit: most + 1 });
    };
    const inWindow = sql`hour BETWEEN ${param("Int64", started.from)} AND ${param("Int64", started.to)}`;
    const [elsewhere, guessed] = await Promise.all([this.otherHours(started, inWindow), read(inWindow)]);
    let bytes = guessed;
    if (elsewhere.length > 0) {
      release(guessed);
      bytes = await read(inHoursOf(project, { started, ended: undefined })!);
    }
    const table = await this.decode(bytes, undefined);
    if (table.calls.count <= most && !this.selectsTooMany(table)) return whole(table);
    table[Symbol.dispose]();
    return this.countedTraces();
  }

  private otherHours(started: HourRange, inWindow: Sql): Promise<readonly unknown[]> {
    const hours = hourBucketsOf(ofProject(this.plan.project), { kind: "started", range: started });
    return this.engine.rows(sql`SELECT hour FROM (${hours}) WHERE NOT ${inWindow} LIMIT 1`, {
      name: "usage_hours",
      limits: "heavy",
      signal: this.options.signal,
    });
  }

  /** Counts the traces first; chooses calls if more are selected than the plan's limit. */
  async countedTraces(): Promise<FoundCalls<More>> {
    const { plan } = this;
    const traces = await countTraces(this.engine, plan, plan.whereTraces, this.options.signal);
    const selected = traces.reduce((sum, trace) => sum + trace.selectedCount, 0);
    return plan.limit !== undefined && selected > plan.limit ? this.chosenCalls() : this.traces(traces);
  }

  /** Selects the oldest calls by id. */
  async chosenCalls(): Promise<FoundCalls<More>> {
    const { plan, options } = this;
    const most = plan.limit ?? Math.min(options.maxCalls, MAX_CHOSEN);
    const { traces, truncated } = await chooseCalls(this.engine, plan, most, options.signal);
    if (truncated && plan.limit === undefined)
      throw options.tooMany(`more than ${most} calls that match the query`);
    return { ...this.traces(traces), truncated };
  }

  traces(traces: readonly SelectedTrace[]): FoundCalls<More> {
    const callCount = traces.reduce((sum, trace) => sum + trace.callCount, 0);
    if (callCount > this.options.maxCalls) throw this.options.tooMany(`${callCount} calls`);
    return { truncated: false, traceCount: traces.length, tables: this.tables(traces) };
  }

  private async *tables(traces: readonly SelectedTrace[]): AsyncGenerator<ReadTable<More>> {
    const read = async (group: readonly SelectedTrace[]): Promise<[readonly SelectedTrace[], Buffer]> => {
      const where = inTraceHours(
        group.flatMap(({ hours, traceId }) => hours.map((hour) => ({ hour, traceId }))),
      );
      const byId = group[0]!.ids !== undefined;
      const limit = this.options.maxCalls + 1;
      return [group, await this.rows(where, { ofTraces: group.length > 1, byId, limit })];
    };
    for await (const [group, bytes] of readAhead(groupTraces(traces), read)) {
      const table = await this.decode(bytes, group);
      this.checkCount(table);
      yield table;
    }
  }

  /** Reads the rows of tables. `byId`: the ids of the selected calls are known. */
  private rows(
    where: Sql,
    { ofTraces, byId = false, limit }: { ofTraces: boolean; byId?: boolean; limit: number },
  ): Promise<Buffer> {
    const { project, condition } = this.plan;
    const columns = foldColumns({ selected: byId ? sql`0` : condition, ofTraces });
    const more = this.options.columns.select(byId ? sql`1` : condition);
    return this.engine.bytes(
      sql`SELECT ${columns}${more} FROM calls FINAL PREWHERE ${ofProject(project)} AND ${where}
          WHERE ${IS_VISIBLE} LIMIT ${param("UInt32", limit)}`,
      "Native",
      { name: "usage_read", limits: "heavy", signal: this.options.signal },
    );
  }

  private async decode(bytes: Buffer, traces: readonly KnownTrace[] | undefined): Promise<ReadTable<More>> {
    const { names, columns, forOwn = false } = this.options;
    const { more, readMore } = columns.open(bytes);
    const calls = await inTurns(callTableSteps(bytes, traces, names, { readMore, forOwn }));
    return { calls, more, [Symbol.dispose]: () => calls[Symbol.dispose]() };
  }

  /** Throws if a table has more than `maxCalls`, as more calls may arrive after counting. */
  private checkCount({ calls }: ReadTable<More>): void {
    const { maxCalls, tooMany } = this.options;
    if (calls.count > maxCalls) throw tooMany(`more than ${maxCalls} calls`);
  }

  private selectsTooMany({ calls }: ReadTable<More>): boolean {
    const { limit } = this.plan;
    if (limit === undefined || calls.count <= limit) return false;
    let selected = 0;
    for (let call = 0; call < calls.count; call++) if (isSelected(calls, call)) selected++;
    return selected > limit;
  }
}

function whole<More>(table: ReadTable<More>): FoundCalls<More> {
  return { truncated: false, traceCount: table.calls.traceCount, tables: only(table) };
}

async function* only<Item>(item: Item): AsyncGenerator<Item> {
  yield item;
}
