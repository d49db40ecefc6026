import type { CallsFilter } from "../../query/index.ts";
import type { TracesRequested } from "../plan/plan-traces.ts";

/** Filter members about a field. */
const MEMBERS: Readonly<Record<string, readonly (keyof CallsFilter)[]>> = {
  op_name: ["op_names"],
  svc_user_id: ["svc_user_ids"],
  thread_id: ["thread_ids"],
};
/** The members of `$expr` that hold operands. */
interface Operator {
  readonly $and?: readonly Operator[];
  readonly $eq?: readonly unknown[];
  readonly $in?: readonly unknown[];
}

/**
 * Removes the conditions on one field of the root: members of the filter, and `$eq` and `$in` at the top of the query. Returns
 * the same object if there are none.
 */
export function withoutOwnCondition<Requested extends TracesRequested>(
  requested: Requested,
  field: string,
): Requested {
  const { filter, query } = requested;
  const members = (MEMBERS[field] ?? []).filter((member) => filter?.[member] != null);
  const expression = (query as { readonly $expr: Operator } | null | undefined)?.$expr;
  const kept = expression === undefined ? undefined : withoutField(expression, field);
  if (members.length === 0 && kept === expression) return requested;
  const ofFilter = Object.fromEntries(members.map((member) => [member, undefined]));
  return {
    ...requested,
    filter: filter == null ? filter : { ...filter, ...ofFilter },
    query: kept === undefined ? undefined : { $expr: kept },
  };
}

function withoutField(expression: Operator, field: string): Operator | undefined {
  const { $and, $eq, $in } = expression;
  if ([...($eq ?? []), ...($in?.slice(0, 1) ?? [])].some((operand) => isField(operand, field)))
    return undefined;
  if ($and === undefined) return expression;
  const kept = $and.map((one) => withoutField(one, field));
  if (kept.every((one, place) => one === $and[place])) return expression;
  const some = kept.filter((one) => one !== undefined);
  return some.length === 0 ? undefined : { $and: some };
}

function isField(operand: unknown, field: string): boolean {
  return (operand as { readonly $getField?: unknown } | null)?.$getField === field;
}
