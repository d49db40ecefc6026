import { RESPONSE_CHUNK_BYTES } from "../../http/chunks.ts";
import { invalid } from "../../shared/errors.ts";
import { sortSteps } from "../../shared/sort-steps.ts";
import { ROWS_PER_STEP, type Steps } from "../../shared/steps.ts";
import { viewOf } from "../../shared/buffers.ts";
import { entryTexts, OPENING, unfinishedIds, writeCallUsage, writeUnfinished } from "./json/call-usage.ts";
import type { PrintedCosts } from "./json/cost-texts.ts";
import type { ByteWriter } from "./bytes/byte-writer.ts";
import { idOf, isSelected, type CallTable } from "../table/call-table.ts";
import type { LlmDictionary } from "../table/llm-dictionary.ts";
import type { CostOf } from "../../prices/cost-of-call.ts";
import { withOwnUsage } from "../fold/own-usage.ts";
import { rollUpSelected } from "../fold/rollup.ts";
import { SeenIds } from "./bytes/seen-ids.ts";
import type { FoundCalls } from "../read-calls.ts";
import { inTurns, pacer } from "../../fairness/turns.ts";

/**
 * Streams the response in chunks, valid as described in `ChunkBuffers`. Folds, writes and releases a group of traces while the
 * next ones are read. Throws, also after the first chunk, `StorageError`; `validation` if two calls have one id.
 */
export async function* streamTraceUsage(
  found: FoundCalls<unknown>,
  options: {
    readonly names: LlmDictionary;
    readonly writer: ByteWriter;
    readonly costOf: CostOf | undefined;
    /** True for own usage, without descendants. */
    readonly ownOnly: boolean;
    readonly printed: PrintedCosts;
  },
): AsyncGenerator<Buffer> {
  const { names, writer, costOf } = options;
  const texts = entryTexts(names, { withCosts: costOf !== undefined, printed: options.printed });
  writer.copy(OPENING);
  const unfinished: string[] = [];
  const seen = new SeenIds();
  const pause = pacer();
  let isFirst = true;
  for await (const { calls: read } of found.tables) {
    using calls = options.ownOnly ? await inTurns(withOwnUsage(read, names)) : read;
    if (found.traceCount > 1) await inTurns(checkDistinctIds(calls, seen));
    using rolledUp = await inTurns(rollUpSelected(calls, names, costOf));
    for (const id of unfinishedIds(calls, rolledUp)) unfinished.push(id);
    const to = { writer, texts, chunkBytes: RESPONSE_CHUNK_BYTES, isFirst };
    const chunks = writeCallUsage(calls, rolledUp, to);
    let chunk = chunks.next();
    for (; chunk.done !== true; chunk = chunks.next()) {
      yield chunk.value;
      await pause();
    }
    isFirst = chunk.value;
  }
  await inTurns(sortSteps(unfinished));
  for (const chunk of writeUnfinished(unfinished, { writer, chunkBytes: RESPONSE_CHUNK_BYTES })) {
    yield chunk;
    await pause();
  }
}

/** Throws `validation` for an id of calls in several traces: a response has one entry per id. */
function* checkDistinctIds(calls: CallTable, seen: SeenIds): Steps<void> {
  const { source, ids } = calls;
  const view = viewOf(source);
  for (let call = 0; call < calls.count; call++) {
    if (call % ROWS_PER_STEP === 0) yield;
    if (!isSelected(calls, call)) continue;
    if (seen.add(view, { start: ids.starts[call]!, end: ids.ends[call]! })) continue;
    const msg = `Calls of several traces have the id ${idOf(calls, call)}. Select one trace (filter.trace_ids).`;
    throw invalid([{ loc: ["body"], msg, type: "ambiguous_id" }]);
  }
}
