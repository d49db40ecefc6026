import type { Engine } from "../../store/engine.ts";
import { PIECE_BYTES } from "../../http/pieces.ts";
import { invalid } from "../../shared/errors.ts";
import { viewOf } from "../../shared/buffers.ts";
import { closing, entryTexts, OPENING, unfinishedIds, writeCallUsage } from "./json/answer.ts";
import type { ByteWriter } from "./bytes/byte-writer.ts";
import { idOf, isSelected, releaseCalls, type CallTable } from "../table/call-table.ts";
import { tooManyCalls, type PreparedUsage, type ReadOptions } from "./prepare-usage.ts";
import { readCallTable } from "../table/read-call-table.ts";
import type { CostOf } from "../../prices/cost-of-call.ts";
import { eachAlone } from "../fold/each-alone.ts";
import { releaseRolledUp, rollUpSelected } from "../fold/rollup.ts";
import { SeenIds } from "./bytes/seen-ids.ts";
import { readTraces } from "../read-traces.ts";

/** What was read for an answer. */
export interface UsageSize {
  readonly calls: number;
  readonly traces: number;
}

/**
 * The answer's text, piece by piece; `PieceBuffers` says how long a piece is valid. A group of traces is folded,
 * written and forgotten while the next ones are being read. Errors, also after the first piece: `StorageError`; validation when two calls have one id.
 */
export async function* streamAnswer(
  engine: Engine,
  prepared: PreparedUsage,
  options: ReadOptions & {
    writer: ByteWriter;
    costOf: CostOf | undefined;
    /** Each call without its descendants. */
    ownOnly: boolean;
    onRead: (size: UsageSize) => void;
  },
): AsyncGenerator<Buffer> {
  const { names } = prepared;
  const { writer, costOf } = options;
  const texts = entryTexts(names, costOf !== undefined);
  writer.copy(OPENING);
  const unfinished: string[] = [];
  const seen = new SeenIds();
  let isFirst = true;
  let callCount = 0;
  let traceCount = 0;
  for await (const read of callTables(engine, prepared, options)) {
    const calls = options.ownOnly ? eachAlone(read, names) : read;
    callCount += calls.count;
    traceCount += calls.traceCount;
    if (prepared.traces.length > 1 || traceCount > 1) refuseTwins(calls, seen);
    const rolledUp = rollUpSelected(calls, names, costOf);
    for (const id of unfinishedIds(calls, rolledUp)) unfinished.push(id);
    isFirst = yield* writeCallUsage(calls, rolledUp, {
      writer,
      texts,
      pieceBytes: PIECE_BYTES,
      isFirst,
    });
    releaseRolledUp(rolledUp);
    releaseCalls(calls);
  }
  seen.release();
  options.onRead({ calls: callCount, traces: traceCount });
  writer.copy(closing(unfinished));
  yield writer.take();
}

/** The calls of all traces, a group of traces at a time, while the engine is at the next ones. */
async function* callTables(
  engine: Engine,
  { selection, traces, names, calls }: PreparedUsage,
  options: ReadOptions,
): AsyncGenerator<CallTable> {
  if (calls !== undefined) {
    yield calls;
    return;
  }
  const read = { maxCalls: options.maxTraceCalls, signal: options.signal };
  for await (const group of readTraces(engine, { selection, traces }, read)) {
    const table = readCallTable(group.bytes, group.traces, names);
    if (table.count > options.maxTraceCalls)
      throw tooManyCalls(`more than ${options.maxTraceCalls}`, options);
    yield table;
  }
}

/** An id may stand for a call in each of several traces, but an answer has one entry for an id. */
function refuseTwins(calls: CallTable, seen: SeenIds): void {
  const { source, ids } = calls;
  const view = viewOf(source);
  for (let call = 0; call < calls.count; call++) {
    if (!isSelected(calls, call)) continue;
    if (seen.add(view, { start: ids.starts[call]!, end: ids.ends[call]! })) continue;
    const msg = `Calls of several traces have the id ${idOf(calls, call)}. Ask for one of the traces (filter.trace_ids).`;
    throw invalid([{ loc: ["body"], msg, type: "ambiguous_id" }]);
  }
}
