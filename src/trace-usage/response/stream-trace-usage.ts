import { RESPONSE_CHUNK_BYTES } from "../../http/chunks.ts";
import { invalid } from "../../shared/errors.ts";
import { sortSteps } from "../../shared/sort-steps.ts";
import { ROWS_PER_STEP, type Steps } from "../../shared/steps.ts";
import { viewOf } from "../../shared/buffers.ts";
import { entryTexts, OPENING, unfinishedIds, writeCallUsage, writeUnfinished } from "./json/call-usage.ts";
import type { PrintedCosts } from "./json/cost-texts.ts";
import type { ByteWriter } from "./bytes/byte-writer.ts";
import { idOf, isSelected, releaseCalls, type CallTable } from "../table/call-table.ts";
import type { LlmDictionary } from "../table/llm-dictionary.ts";
import type { CostOf } from "../../prices/cost-of-call.ts";
import { ownUsageTable } from "../fold/own-usage-table.ts";
import { releaseRolledUp, rollUpSelected } from "../fold/rollup.ts";
import { SeenIds } from "./bytes/seen-ids.ts";
import type { FoundCalls } from "../read-calls.ts";
import { inTurns, turn } from "../../fairness/turns.ts";

/** What was read for an answer. */
export interface UsageSize {
  readonly calls: number;
  readonly traces: number;
}

/**
 * The answer's text, piece by piece; `PieceBuffers` says how long a piece is valid. A group of traces is folded,
 * written and forgotten while the next ones are being read. Errors, also after the first piece: `StorageError`; validation when two calls have one id.
 */
export async function* streamTraceUsage(
  found: FoundCalls<undefined>,
  options: {
    readonly names: LlmDictionary;
    readonly writer: ByteWriter;
    readonly costOf: CostOf | undefined;
    /** Each call without its descendants. */
    readonly ownOnly: boolean;
    readonly printed: PrintedCosts;
    readonly onRead: (size: UsageSize) => void;
  },
): AsyncGenerator<Buffer> {
  const { names, writer, costOf } = options;
  const texts = entryTexts(names, { withCosts: costOf !== undefined, printed: options.printed });
  writer.copy(OPENING);
  const unfinished: string[] = [];
  const seen = new SeenIds();
  let isFirst = true;
  let callCount = 0;
  let traceCount = 0;
  for await (const { calls: read } of found.tables) {
    const calls = options.ownOnly ? ownUsageTable(read, names) : read;
    callCount += calls.count;
    traceCount += calls.traceCount;
    if (found.traceCount > 1) await inTurns(refuseDuplicateIds(calls, seen));
    const rolledUp = await inTurns(rollUpSelected(calls, names, costOf));
    for (const id of await inTurns(unfinishedIds(calls, rolledUp))) unfinished.push(id);
    const to = { writer, texts, pieceBytes: RESPONSE_CHUNK_BYTES, isFirst };
    const pieces = writeCallUsage(calls, rolledUp, to);
    let piece = pieces.next();
    for (; piece.done !== true; piece = pieces.next()) {
      yield piece.value;
      await turn();
    }
    isFirst = piece.value;
    releaseRolledUp(rolledUp);
    releaseCalls(calls);
  }
  seen.release();
  options.onRead({ calls: callCount, traces: traceCount });
  await inTurns(sortSteps(unfinished));
  for (const piece of writeUnfinished(unfinished, { writer, pieceBytes: RESPONSE_CHUNK_BYTES })) {
    yield piece;
    await turn();
  }
}

/** An id may stand for a call in each of several traces, but an answer has one entry for an id. */
function* refuseDuplicateIds(calls: CallTable, seen: SeenIds): Steps<void> {
  const { source, ids } = calls;
  const view = viewOf(source);
  for (let call = 0; call < calls.count; call++) {
    if (call % ROWS_PER_STEP === 0) yield;
    if (!isSelected(calls, call)) continue;
    if (seen.add(view, { start: ids.starts[call]!, end: ids.ends[call]! })) continue;
    const msg = `Calls of several traces have the id ${idOf(calls, call)}. Ask for one of the traces (filter.trace_ids).`;
    throw invalid([{ loc: ["body"], msg, type: "ambiguous_id" }]);
  }
}
