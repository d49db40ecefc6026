import type { CallRowKey } from "../../calls/read/call-keys.ts";
import { inTurns } from "../../fairness/turns.ts";
import { ofProject } from "../../query/hour-buckets.ts";
import { inTraceHours, IS_VISIBLE } from "../../query/index.ts";
import { param, sql, trusted, type Sql } from "../../query/sql.ts";
import { parseJson } from "../../shared/json.ts";
import type { Project } from "../../shared/project.ts";
import type { Steps } from "../../shared/steps.ts";
import type { Engine } from "../../store/engine.ts";
import { readInPages } from "../../store/rows/read-in-pages.ts";
import { RowBinaryReader } from "../../store/rows/row-binary.ts";
import { inputPreview } from "../previews/input-preview.ts";
import { largeInputPreview, largeOutputPreview } from "../previews/large-preview-sql.ts";
import { outputPreview } from "../previews/output-preview.ts";

export type RootKey = Pick<CallRowKey, "traceId" | "id" | "hour">;

/** Previews of a root's payloads; null without text. */
export interface RootTexts {
  readonly input_preview: string | null;
  readonly output_preview: string | null;
}

/** Bytes of a payload that is read whole. */
const MAX_PAYLOAD_BYTES = trusted(String(256 * 1024));

/**
 * Reads previews of the inputs and outputs of roots, by trace; roots deleted meanwhile have none. Of a payload above 256 KiB
 * the engine reads the preview: null unless it is a text or a request or response of a chat API. Memory: pages of about
 * 4 MiB, at most 32 MiB. Errors: `StorageError`.
 */
export async function readRootTexts(
  engine: Engine,
  project: Project,
  roots: readonly RootKey[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, RootTexts>> {
  const texts = new Map<string, RootTexts>();
  const pages = readInPages(roots.values(), {
    engine,
    name: "traces_root_texts",
    statement: (page) => textsOf(project, page),
    signal,
  });
  for await (const { keys, bytes } of pages) await inTurns(readTexts(bytes, keys, texts));
  return texts;
}

function textsOf(project: Project, roots: readonly RootKey[]): Sql {
  const ids = param(
    "Array(String)",
    Array.from(roots, ({ id }) => id),
  );
  // of a payload that is read whole, the engine evaluates the preview of ''
  const [inputs, output] = [sql`ifNull(inputs, '')`, sql`ifNull(output, '')`];
  const ifLarge = (text: Sql): Sql => sql`if(length(${text}) > ${MAX_PAYLOAD_BYTES}, ${text}, '')`;
  const ifSmall = (text: Sql): Sql => sql`if(length(${text}) > ${MAX_PAYLOAD_BYTES}, '', ${text})`;
  return sql`SELECT trace_id, id, ${ifSmall(inputs)}, ${largeInputPreview(ifLarge(inputs))},
      ${ifSmall(output)}, ${largeOutputPreview(ifLarge(output))}
    FROM calls FINAL PREWHERE ${ofProject(project)} AND ${inTraceHours(roots)} AND id IN ${ids} WHERE ${IS_VISIBLE}`;
}

function* readTexts(bytes: Buffer, roots: readonly RootKey[], into: Map<string, RootTexts>): Steps<void> {
  const idOf = new Map(roots.map(({ traceId, id }) => [traceId, id]));
  const reader = new RowBinaryReader(bytes);
  while (!reader.done) {
    const [traceId, id] = [reader.string(), reader.string()];
    const [inputs, largeInputs] = [reader.string(), reader.string()];
    const [output, largeOutput] = [reader.string(), reader.string()];
    // a page can have a call of another trace with the id of a root
    if (idOf.get(traceId) !== id) continue;
    into.set(traceId, {
      input_preview: inputs === "" ? largeInputs || null : inputPreview(parsed(inputs)),
      output_preview: output === "" ? largeOutput || null : outputPreview(parsed(output)),
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
