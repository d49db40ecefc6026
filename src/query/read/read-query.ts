import type { Issue } from "../../shared/errors.ts";
import { checkOperation } from "./check.ts";
import { Issues } from "../issues.ts";
import { callFields, type FieldResolver } from "../fields/fields.ts";
import { weightOfPath } from "../fields/json-path.ts";
import { leavesOfCondition, type Leaf } from "./leaves.ts";
import { parseQuery } from "./parse.ts";
import type { Condition } from "./typed.ts";

export interface RefusedQuery {
  readonly ok: false;
  /** `loc` begins with "query". */
  readonly issues: readonly Issue[];
}

/** Parses and checks a query and reports all of its issues. Needs no project. `fields`: the known field names. */
export function readQuery(
  query: unknown,
  fields: FieldResolver = callFields,
): { readonly ok: true; readonly condition: Condition } | RefusedQuery {
  const issues = new Issues();
  const operation = parseQuery(query, { fields, issues });
  const condition = operation && checkOperation(operation, issues);
  if (condition !== undefined && leavesOfCondition(condition).reduce(addWeight, 0) > MAX_WEIGHT) {
    issues.add(["query", "$expr"], "too_long", "The query has too many long paths or feedback fields");
  }
  return condition === undefined || issues.found.length > 0
    ? { ok: false, issues: issues.found }
    : { ok: true, condition };
}

/** An estimate of the pieces of SQL in a query. Parsing this many takes the engine two seconds. */
const MAX_WEIGHT = 15_000;
/** Each one is a look-up in the project's feedback. */
const WEIGHT_OF_FEEDBACK = 500;

function addWeight(sum: number, leaf: Leaf): number {
  if (leaf.kind === "feedback") return sum + WEIGHT_OF_FEEDBACK;
  return sum + (leaf.kind === "path" ? weightOfPath(leaf.column, leaf.steps) : weightOfPath({}, []));
}
