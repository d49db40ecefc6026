import type { CallRowKey } from "../../calls/read/call-keys.ts";
import { inTurns } from "../../fairness/turns.ts";
import { ofProject } from "../../query/hour-buckets.ts";
import { inTraceHours, IS_VISIBLE } from "../../query/index.ts";
import { param, sql, trusted, type Sql } from "../../query/sql.ts";
import { parseJson } from "../../shared/json.ts";
import type { Project } from "../../shared/project.ts";
import type { Steps } from "../../shared/steps.ts";
import type { Engine } from "../../store/engine.ts";
import { readInPages, type KeyPage } from "../../store/rows/read-in-pages.ts";
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
  const read = async (keys: readonly RootKey[], columns: Sql, add: (row: Row) => void): Promise<void> => {
    const statement = (page: readonly RootKey[]) => payloadsOf(project, page, columns);
    const pages = readInPages(keys.values(), { engine, name: "traces_root_texts", statement, signal });
    for await (const page of pages) await inTurns(eachRow(page, add));
  };
  const large: RootKey[] = [];
  await read(roots, PAYLOADS, ({ key, isLarge, inputs, output }) => {
    texts.set(key.traceId, {
      input_preview: inputPreview(parsed(inputs)),
      output_preview: outputPreview(parsed(output)),
    });
    if (isLarge) large.push(key);
  });
  await read(large, PREVIEWS_OF_LARGE, ({ key: { traceId }, inputs, output }) => {
    const known = texts.get(traceId);
    texts.set(traceId, {
      input_preview: inputs || known?.input_preview || null,
      output_preview: output || known?.output_preview || null,
    });
  });
  return texts;
}

const [INPUTS, OUTPUT] = [sql`ifNull(inputs, '')`, sql`ifNull(output, '')`];
const isLarge = (text: Sql): Sql => sql`(length(${text}) > ${MAX_PAYLOAD_BYTES})`;
const ifSmall = (text: Sql): Sql => sql`if(${isLarge(text)}, '', ${text})`;
const ifLarge = (text: Sql): Sql => sql`if(${isLarge(text)}, ${text}, '')`;
const PAYLOADS = sql`toUInt8(${isLarge(INPUTS)} OR ${isLarge(OUTPUT)}), ${ifSmall(INPUTS)}, ${ifSmall(OUTPUT)}`;
const PREVIEWS_OF_LARGE = sql`toUInt8(1), ${largeInputPreview(ifLarge(INPUTS))}, ${largeOutputPreview(ifLarge(OUTPUT))}`;

function payloadsOf(project: Project, roots: readonly RootKey[], columns: Sql): Sql {
  const ids = param(
    "Array(String)",
    Array.from(roots, ({ id }) => id),
  );
  return sql`SELECT trace_id, id, ${columns}
    FROM calls FINAL PREWHERE ${ofProject(project)} AND ${inTraceHours(roots)} AND id IN ${ids} WHERE ${IS_VISIBLE}`;
}

interface Row {
  readonly key: RootKey;
  readonly isLarge: boolean;
  readonly inputs: string;
  readonly output: string;
}

function* eachRow({ bytes, keys }: KeyPage<RootKey>, add: (row: Row) => void): Steps<void> {
  const byTrace = new Map(keys.map((key) => [key.traceId, key]));
  const reader = new RowBinaryReader(bytes);
  while (!reader.done) {
    const [key, id] = [byTrace.get(reader.string()), reader.string()];
    const [isLarge, inputs, output] = [reader.uint8() === 1, reader.string(), reader.string()];
    // a page can have a call of another trace with the id of a root
    if (key?.id === id) add({ key, isLarge, inputs, output });
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
