import { columns, computedColumns } from "../../../query/fields/columns.ts";
import { compileGroupKey, type SelectionLimits } from "../../../query/index.ts";
import { join, param, sql, type Sql } from "../../../query/sql.ts";
import { inTurns } from "../../../fairness/turns.ts";
import { isoOf } from "../../../shared/instant.ts";
import { parseJson } from "../../../shared/json.ts";
import type { Project } from "../../../shared/project.ts";
import type { Steps } from "../../../shared/steps.ts";
import type { Engine } from "../../../store/engine.ts";
import { readInPages } from "../../../store/rows/read-in-pages.ts";
import { RowBinaryReader } from "../../../store/rows/row-binary.ts";
import { planList } from "../plan.ts";
import { selectKeys } from "../select-keys.ts";
import { visibleCalls } from "../store.ts";
import { FoundFields, type Fields } from "./found-fields.ts";

export interface FieldsQuery {
  readonly project: Project;
  readonly prefix: string;
  /** Microseconds since the epoch, of `started_at`; the end is exclusive. */
  readonly startUs: number;
  readonly endUs: number;
}

/** Bounds of the sample: calls, bytes of a value, and about the bytes of all. */
const SAMPLE_CALLS = 1000;
const MAX_VALUE_BYTES = 256 * 1024;
const MAX_SAMPLE_BYTES = 32 * 1024 * 1024;

const NAMES = [...columns.keys(), ...[...computedColumns.keys()].map((name) => `summary.weave.${name}`)];

/** Finds the fields of the newest calls of a window. Errors: `StorageError`. */
export async function readFields(
  engine: Engine,
  { project, prefix, startUs, endUs }: FieldsQuery,
  { limits, signal }: { readonly limits: SelectionLimits; readonly signal: AbortSignal },
): Promise<Fields> {
  const found = new FoundFields(prefix);
  const names = NAMES.filter((name) => found.mayHold(name));
  if (names.length === 0) return found.fields();
  const bound = (operator: string, us: number) => ({
    [operator]: [{ $getField: "started_at" }, { $literal: isoOf(us) }],
  });
  const query = { $expr: { $and: [bound("$gte", startUs), bound("$lt", endUs)] } };
  const plan = planList(project, { query, sort_by: [{ field: "started_at", direction: "desc" }] }, limits);
  const { keys } = await selectKeys(engine, plan, { limit: SAMPLE_CALLS, offset: 0, signal });
  const values = join(names.map(jsonOf), ", ");
  const statement = (page: Parameters<typeof visibleCalls>[1]): Sql => visibleCalls(project, page, values);
  let readBytes = 0;
  for await (const { bytes } of readInPages(keys, { engine, name: "fields_sample", signal, statement })) {
    await inTurns(addCalls(found, names, bytes));
    readBytes += bytes.length;
    if (readBytes > MAX_SAMPLE_BYTES) break;
  }
  return found.fields();
}

/** JSON of a field; '' if absent or too long. */
function jsonOf(name: string): Sql {
  const key = compileGroupKey(name);
  if (!key.ok) throw new Error(`${name} is no field`);
  return sql`if(length(${key.text}) > ${param("UInt32", MAX_VALUE_BYTES)}, '', ${key.text})`;
}

function* addCalls(found: FoundFields, names: readonly string[], bytes: Buffer): Steps<void> {
  const reader = new RowBinaryReader(bytes);
  while (!reader.done) {
    for (const name of names) {
      const json = reader.string();
      if (json === "" || (json === "[]" && columns.get(name)?.type === "refs")) continue;
      found.add(name, parseJson(json));
      yield;
    }
  }
}
