import { columns, computedColumns } from "../../../query/fields/columns.ts";
import { compileGroupKey } from "../../../query/group-key.ts";
import { join, param, sql, type Sql } from "../../../query/sql.ts";
import { inTurns } from "../../../fairness/turns.ts";
import { parseJson } from "../../../shared/json.ts";
import type { Steps } from "../../../shared/steps.ts";
import type { Engine } from "../../../store/engine.ts";
import { readInPages } from "../../../store/rows/read-in-pages.ts";
import { RowBinaryReader } from "../../../store/rows/row-binary.ts";
import type { CallRowKey } from "../call-keys.ts";
import type { ListPlan } from "../plan.ts";
import { selectKeys } from "../select-keys.ts";
import { visibleCalls } from "../store.ts";
import { FoundFields } from "./found-fields.ts";

/** Bounds of the sample: calls, bytes of a value, and about the bytes of all. */
const SAMPLE_CALLS = 1000;
const MAX_VALUE_BYTES = 256 * 1024;
const MAX_SAMPLE_BYTES = 32 * 1024 * 1024;

const NAMES = [...columns.keys(), ...[...computedColumns.keys()].map((name) => `summary.weave.${name}`)];
const VALUES = join(NAMES.map(jsonOf), ", ");

/** Finds the fields of the newest calls of a plan. Errors: `StorageError`. */
export async function readFields(
  engine: Engine,
  plan: ListPlan,
  { prefix, signal }: { readonly prefix: string; readonly signal: AbortSignal },
) {
  const found = new FoundFields(prefix);
  const { keys } = await selectKeys(engine, plan, { limit: SAMPLE_CALLS, offset: 0, signal });
  const statement = (page: readonly CallRowKey[]): Sql => visibleCalls(plan.project, page, VALUES);
  let readBytes = 0;
  for await (const { bytes } of readInPages(keys, { engine, name: "fields_sample", signal, statement })) {
    await inTurns(addCalls(found, bytes));
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

function* addCalls(found: FoundFields, bytes: Buffer): Steps<void> {
  const reader = new RowBinaryReader(bytes);
  while (!reader.done) {
    for (const name of NAMES) {
      const json = reader.string();
      if (json === "" || (json === "[]" && columns.get(name)?.type === "refs")) continue;
      found.add(name, parseJson(json));
      yield;
    }
  }
}
