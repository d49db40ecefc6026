import type { CallRowKey } from "../../calls/read/call-keys.ts";
import { inTurns } from "../../fairness/turns.ts";
import { ofProject } from "../../query/hour-buckets.ts";
import { inTraceHours } from "../../query/trace-hours.ts";
import { IS_VISIBLE } from "../../query/fields/columns.ts";
import { param, sql, trusted, type Sql } from "../../query/sql.ts";
import { parseJson } from "../../shared/json.ts";
import type { Project } from "../../shared/project.ts";
import type { Steps } from "../../shared/steps.ts";
import type { Engine } from "../../store/engine.ts";
import { readInPages, type KeyPage } from "../../store/rows/read-in-pages.ts";
import { RowBinaryReader } from "../../store/rows/row-binary.ts";
import { inputPreview, outputPreview } from "../previews/previews.ts";

export type RootKey = Pick<CallRowKey, "traceId" | "id" | "hour">;

/** Previews of a root's payloads; null without text. */
export interface RootTexts {
  readonly input_preview: string | null;
  readonly output_preview: string | null;
}

/** Larger payloads have no preview. */
const MAX_PAYLOAD_BYTES = trusted(String(256 * 1024));
const ifSmall = (payload: Sql): Sql =>
  sql`if(length(${payload}) > ${MAX_PAYLOAD_BYTES}, '', ifNull(${payload}, ''))`;

/**
 * Reads previews of the inputs and outputs of roots, by trace; roots deleted meanwhile have none. Memory: pages of about 4 MiB,
 * at most 32 MiB. Errors: `StorageError`.
 */
export async function readRootTexts(
  engine: Engine,
  project: Project,
  roots: readonly RootKey[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, RootTexts>> {
  const texts = new Map<string, RootTexts>();
  const statement = (page: readonly RootKey[]) => payloadsOf(project, page);
  const pages = readInPages(roots.values(), { engine, name: "traces_root_texts", statement, signal });
  for await (const page of pages) await inTurns(addPreviews(page, texts));
  return texts;
}

function payloadsOf(project: Project, roots: readonly RootKey[]): Sql {
  const ids = param(
    "Array(String)",
    Array.from(roots, ({ id }) => id),
  );
  return sql`SELECT trace_id, id, ${ifSmall(sql`inputs`)}, ${ifSmall(sql`output`)}
    FROM calls FINAL PREWHERE ${ofProject(project)} AND ${inTraceHours(roots)} AND id IN ${ids} WHERE ${IS_VISIBLE}`;
}

function* addPreviews({ bytes, keys }: KeyPage<RootKey>, texts: Map<string, RootTexts>): Steps<void> {
  const idOf = new Map(keys.map(({ traceId, id }) => [traceId, id]));
  const reader = new RowBinaryReader(bytes);
  while (!reader.done) {
    const [traceId, id, inputs, output] = [
      reader.string(),
      reader.string(),
      reader.string(),
      reader.string(),
    ];
    // a page can have a call of another trace with the id of a root
    if (idOf.get(traceId) === id)
      texts.set(traceId, {
        input_preview: inputPreview(parsed(inputs)),
        output_preview: outputPreview(parsed(output)),
      });
    yield;
  }
}

/** Parses stored JSON; undefined if it is none. */
function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
