import { inTurns } from "../../fairness/turns.ts";
import type { PriceBook } from "../../prices/price-book.ts";
import { sql } from "../../query/sql.ts";
import { AppError } from "../../shared/errors.ts";
import type { Project } from "../../shared/project.ts";
import type { Engine } from "../../store/engine.ts";
import type { ProviderOf } from "../../usage/usage.ts";
import { readCalls } from "../../trace-usage/read-calls.ts";
import { LlmDictionary } from "../../trace-usage/table/llm-dictionary.ts";
import type { SelectedTrace } from "../../trace-usage/plan.ts";
import { traceColumns, TraceSums } from "./trace-sums.ts";

export interface FoldRequest {
  readonly project: Project;
  readonly book: PriceBook;
  readonly providerOf: ProviderOf;
  /** Maximum number of calls read for one response. */
  readonly maxCalls: number;
  /** Default: `TraceSums.roots` are absent. */
  readonly withRoots?: boolean;
  readonly signal: AbortSignal;
}

/** Sums the usage of traces from their calls, a row per trace. Errors: `StorageError`; too_many_calls. */
export async function foldTraces(
  engine: Engine,
  traces: readonly SelectedTrace[],
  { project, book, providerOf, maxCalls, withRoots = false, signal }: FoldRequest,
): Promise<TraceSums> {
  const names = new LlmDictionary();
  const into = new TraceSums(
    traces.map(({ traceId }) => traceId),
    { names, book, providerOf },
  );
  if (traces.length === 0) return into;
  const plan = {
    project,
    condition: sql`1`,
    whereSelected: sql`1`,
    whereTraces: sql`1`,
    strategy: { kind: "known traces", traces: traces.toSorted(byHour) },
    limit: undefined,
  } as const;
  const tooMany = (what: string): AppError =>
    new AppError(
      "too_many_calls",
      `The selected traces have ${what}; a response reads at most ${maxCalls}. ` +
        "Use a shorter window or a smaller limit, or add conditions.",
    );
  const found = await readCalls(engine, plan, {
    names,
    columns: traceColumns(withRoots),
    maxCalls,
    tooMany,
    signal,
  });
  for await (using table of found.tables) await inTurns(into.add(table.calls, table.more));
  return into;
}

/** Orders traces by hour, so that those read together are stored together. */
function byHour(one: SelectedTrace, other: SelectedTrace): number {
  return (one.hours[0] ?? 0) - (other.hours[0] ?? 0);
}
