import { invalid } from "../shared/errors.ts";
import type { Project } from "../shared/project.ts";
import { keyBoundsOf, type KeyBounds } from "./bounds/key-bounds.ts";
import { leavesOfCondition, readsPayload } from "./read/leaves.ts";
import { printPrefilter } from "./bounds/prefilter.ts";
import { printCondition, type PrintScope } from "./print/print.ts";
import { readQuery } from "./read/read-query.ts";
import type { FieldResolver } from "./fields/fields.ts";
import { join, sql, type Sql } from "./sql.ts";
import { isTimeOnly } from "./bounds/time-range.ts";
import type { Condition } from "./read/typed.ts";

export interface CompileOptions {
  /** The project whose feedback is read. `selectCalls` restricts the calls to it. */
  readonly project: Project;
  /** The known field names. Default: those of a call. */
  readonly fields?: FieldResolver;
}

export interface CompiledQuery {
  /** The whole condition over the table's columns: `narrow` and `payload` together. */
  readonly condition: Sql;
  /** The part that reads small columns only; undefined when there is none. */
  readonly narrow: Sql | undefined;
  /** The part that reads payloads; undefined when there is none. */
  readonly payload: Sql | undefined;
  /** Bounds on the sorting key, which limit the rows read. */
  readonly bounds: KeyBounds;
  /** `narrow` restricts more than when a call started or ended. */
  readonly hasNonTimeConditions: boolean;
  /** It looks up feedback, which is better done once than for every piece of a response. */
  readonly readsFeedback: boolean;
}

/**
 * Compiles a query from JSON to SQL: parses, checks and prints it. The SQL contains no text from the user. Throws `validation`,
 * as the schemas of requests do before. Cost: O(size of the query).
 */
export function compileQuery(query: unknown, { project, fields }: CompileOptions): CompiledQuery {
  const read = readQuery(query, fields);
  if (!read.ok) throw invalid(read.issues.map((issue) => ({ ...issue, loc: ["body", ...issue.loc] })));
  return print(read.condition, { project, feedback: "none", exact: false });
}

function print(condition: Condition, scope: PrintScope): CompiledQuery {
  const conjuncts = conjunctsOf(condition);
  const narrow = conjuncts.filter((conjunct) => !readsPayload(conjunct));
  const payload = conjuncts.filter(readsPayload);
  const parts = {
    narrow: allOf(narrow.map((conjunct) => printCondition(conjunct, scope))),
    payload: allOf(payload.map((conjunct) => printFiltered(conjunct, scope))),
  };
  return {
    ...parts,
    bounds: keyBoundsOf(conjuncts),
    hasNonTimeConditions: narrow.some((conjunct) => !isTimeOnly(conjunct)),
    condition: allOf([parts.narrow, parts.payload]) ?? sql`1`,
    readsFeedback: leavesOfCondition(condition).some((leaf) => leaf.kind === "feedback"),
  };
}

function conjunctsOf(condition: Condition): readonly Condition[] {
  return condition.kind === "and" ? condition.conditions.flatMap(conjunctsOf) : [condition];
}

function printFiltered(conjunct: Condition, scope: PrintScope): Sql {
  const printed = printCondition(conjunct, scope);
  const prefilter = printPrefilter(conjunct);
  return prefilter === undefined ? printed : sql`(${prefilter} AND ${printed})`;
}

function allOf(conditions: readonly (Sql | undefined)[]): Sql | undefined {
  const present = conditions.filter((condition) => condition !== undefined);
  return present.length > 1 ? sql`(${join(present, " AND ")})` : present[0];
}
