import type { Fault } from "../shared/errors.ts";
import type { Project } from "../shared/project.ts";
import { checkOperation } from "./check.ts";
import { Faults } from "./faults.ts";
import { callFields, type FieldResolver } from "./fields.ts";
import { defaultQueryLimits, parseQuery, type QueryLimits } from "./parse.ts";
import { printPrefilter } from "./prefilter.ts";
import { printCondition, type PrintScope } from "./print.ts";
import { weightOfPath } from "./json-path.ts";
import { leavesOfCondition, readsPayload, type Leaf } from "./leaves.ts";
import { join, sql, type Sql } from "./sql.ts";
import type { Condition } from "./typed.ts";

export interface CompileOptions {
  /** Whose feedback a feedback field reads. The calls' own project is for `selectCalls` to say. */
  readonly project: Project;
  /** Which names can be asked for. Default: those of a call. */
  readonly fields?: FieldResolver;
  readonly limits?: QueryLimits;
}

export interface CompiledQuery {
  readonly ok: true;
  /** Over the columns of the table: 1, 0, or NULL for unknown. What `narrow` and `payload` say together. */
  readonly condition: Sql;
  /** The part that reads small columns only; undefined when there is none. */
  readonly narrow: Sql | undefined;
  /** The part that reads payloads; undefined when there is none. */
  readonly payload: Sql | undefined;
  /** Feedback is looked up: better done once than with every piece of an answer. */
  readonly readsFeedback: boolean;
}

export interface RefusedQuery {
  readonly ok: false;
  /** `loc` begins with "query". */
  readonly faults: readonly Fault[];
}

/**
 * A query of the language, JSON in, SQL out: parsed, checked, printed. Nothing a user wrote is in the SQL's text.
 * Errors: returned, every one that is found. Cost: O(size of the query), bounded by `limits`.
 */
export function compileQuery(query: unknown, options: CompileOptions): CompiledQuery | RefusedQuery {
  const read = readQuery(query, options);
  return read.ok ? print(read.condition, { project: options.project, feedback: "none", exact: false }) : read;
}

/** The first two steps, which tell all that can be wrong with a query. */
export function readQuery(
  query: unknown,
  { fields = callFields, limits = defaultQueryLimits }: Omit<CompileOptions, "project"> = {},
): { readonly ok: true; readonly condition: Condition } | RefusedQuery {
  const faults = new Faults();
  const operation = parseQuery(query, { fields, limits, faults });
  const condition = operation && checkOperation(operation, faults);
  if (condition !== undefined && leavesOfCondition(condition).reduce(addWeight, 0) > MAX_WEIGHT) {
    faults.add(["query", "$expr"], "too_long", "The query has too many long paths or feedback fields");
  }
  return condition === undefined || faults.found.length > 0
    ? { ok: false, faults: faults.found }
    : { ok: true, condition };
}

/** About the pieces of SQL a query becomes: two seconds' work for the engine before it reads anything. */
const MAX_WEIGHT = 15_000;
/** Each is looked up in the project's feedback. */
const WEIGHT_OF_FEEDBACK = 500;

function addWeight(sum: number, leaf: Leaf): number {
  if (leaf.kind === "feedback") return sum + WEIGHT_OF_FEEDBACK;
  return sum + weightOfPath(leaf.kind === "path" ? leaf.steps : []);
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
    ok: true,
    ...parts,
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
