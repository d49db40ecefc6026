import type { Engine } from "../clickhouse/engine.ts";
import { sql } from "../query/sql.ts";
import { callUsageText, closing, OPENING, unfinishedIds } from "./answer.ts";
import { LlmNames } from "./llm-names.ts";
import { readCallRows } from "./read-call-rows.ts";
import { rollUp, type CostOf } from "./rollup.ts";
import type { SelectedTrace, Selection } from "./selection.ts";
import { callRowBytes } from "./store.ts";

/** Calls read at once: what bounds memory beside the largest trace. */
const CALLS_PER_READ = 50_000;
const TRACES_PER_READ = 2000;

/**
 * The answer's text, piece by piece: a group of traces is read, folded, written and forgotten, while the next one is
 * being read. Errors: `StorageError`, also after the first piece.
 */
export async function* usageText(
  engine: Engine,
  selection: Selection,
  options: { traces: readonly SelectedTrace[]; costOf: CostOf | undefined; signal: AbortSignal },
): AsyncGenerator<string> {
  const groups = groupTraces(options.traces);
  const read = (group: readonly SelectedTrace[] | undefined): Promise<Buffer> | undefined => {
    if (group === undefined) return undefined;
    const condition = group[0]?.ids === undefined ? selection.condition : sql`0`;
    const traceIds = group.map((trace) => trace.traceId);
    const bytes = callRowBytes(engine, { project: selection.project, traceIds, condition }, options.signal);
    bytes.catch(() => undefined); // it is awaited one turn later
    return bytes;
  };

  const names = new LlmNames();
  const unfinished: string[] = [];
  let separator = OPENING;
  let reading = read(groups[0]);
  for (const [index, group] of groups.entries()) {
    const bytes = await reading!;
    reading = read(groups[index + 1]);
    let text = "";
    for (const calls of readCallRows(bytes, group)) {
      const trace = rollUp(calls, names, options.costOf);
      const entries = callUsageText(calls, trace, names);
      if (entries !== "") text += `${text === "" ? "" : ","}${entries}`;
      for (const id of unfinishedIds(calls, trace)) unfinished.push(id);
    }
    if (text === "") continue;
    yield separator + text;
    separator = ",";
  }
  yield (separator === OPENING ? OPENING : "") + closing(unfinished);
}

function groupTraces(traces: readonly SelectedTrace[]): SelectedTrace[][] {
  const groups: SelectedTrace[][] = [];
  let room = 0;
  for (const trace of traces) {
    const group = groups.at(-1);
    if (group === undefined || room < trace.callCount || group.length >= TRACES_PER_READ) {
      groups.push([trace]);
      room = CALLS_PER_READ - trace.callCount;
    } else {
      group.push(trace);
      room -= trace.callCount;
    }
  }
  return groups;
}
