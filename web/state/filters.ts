/** One condition on traces, as a chip shows it. */
export interface Chip {
  readonly field: string;
  readonly op: ChipOp;
  readonly value: string | number | boolean | null;
}

export const CHIP_OPS = ["=", "≠", "contains", ">", "≥", "<", "≤"] as const;
export type ChipOp = (typeof CHIP_OPS)[number];

export const FIELDS = [
  "op_name",
  "display_name",
  "svc_user_id",
  "thread_id",
  "turn_id",
  "svc_run_id",
  "exception",
  "summary.weave.status",
  "summary.weave.latency_ms",
  "summary.weave.trace_name",
  "inputs.",
  "output.",
  "attributes.",
];

/** The member `q` of an address: an operand of `$expr`. */
export type Filter =
  | { readonly kind: "chips"; readonly chips: readonly Chip[] }
  /** Written by hand, and not expressible as chips. */
  | { readonly kind: "custom"; readonly operand: unknown }
  | { readonly kind: "unreadable"; readonly text: string };

const COMPARISONS = { $eq: "=", $gt: ">", $gte: "≥", $lt: "<", $lte: "≤" } as const;

export function readFilter(text: string | undefined): Filter {
  if (text === undefined || text === "") return { kind: "chips", chips: [] };
  let operand: unknown;
  try {
    operand = JSON.parse(text);
  } catch {
    return { kind: "unreadable", text };
  }
  const parts = membersOf(operand, "$and") ?? [operand];
  const chips = (Array.isArray(parts) ? parts : [operand]).map(chipOf);
  return chips.every((chip) => chip !== undefined) ? { kind: "chips", chips } : { kind: "custom", operand };
}

/** Undefined: there is no condition. */
export function operandOf(filter: Filter): unknown {
  if (filter.kind === "custom") return filter.operand;
  if (filter.kind === "unreadable" || filter.chips.length === 0) return undefined;
  const operands = filter.chips.map(operandOfChip);
  return operands.length === 1 ? operands[0] : { $and: operands };
}

export function printFilter(filter: Filter): string {
  if (filter.kind === "unreadable") return filter.text;
  const operand = operandOf(filter);
  return operand === undefined ? "" : JSON.stringify(operand);
}

function operandOfChip({ field, op, value }: Chip): unknown {
  const [input, literal] = [{ $getField: field }, { $literal: value }];
  if (op === "contains") return { $contains: { input, substr: literal, case_insensitive: true } };
  if (op === "≠") return { $not: [{ $eq: [input, literal] }] };
  const name = Object.entries(COMPARISONS).find(([, shown]) => shown === op)?.[0] ?? "$eq";
  return { [name]: [input, literal] };
}

function chipOf(operand: unknown): Chip | undefined {
  const not = membersOf(operand, "$not");
  if (Array.isArray(not) && not.length === 1) {
    const inner = chipOf(not[0]);
    return inner?.op === "=" ? { ...inner, op: "≠" } : undefined;
  }
  const contains = membersOf(operand, "$contains") as Readonly<Record<string, unknown>> | undefined;
  if (contains?.["case_insensitive"] === true)
    return chipWith("contains", contains["input"], contains["substr"]);
  for (const [name, op] of Object.entries(COMPARISONS)) {
    const sides = membersOf(operand, name);
    if (Array.isArray(sides) && sides.length === 2) return chipWith(op, sides[0], sides[1]);
  }
  return undefined;
}

function chipWith(op: ChipOp, input: unknown, literal: unknown): Chip | undefined {
  const [field, value] = [membersOf(input, "$getField"), membersOf(literal, "$literal")];
  const isScalar = value === null || ["string", "number", "boolean"].includes(typeof value);
  return typeof field === "string" && isScalar ? { field, op, value: value as Chip["value"] } : undefined;
}

/** The only member of an object, if it has that name. */
function membersOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  const entries = Object.entries(value);
  return entries.length === 1 && entries[0]?.[0] === name ? entries[0][1] : undefined;
}

/** The typed value: for payload fields, numbers, true, false and null are what they look like; names are text. */
export function typedValue(field: string, text: string): Chip["value"] {
  if (text === "null") return null;
  if (!/^(inputs|output|attributes|summary)\b/.test(field)) return text;
  if (text === "true" || text === "false") return text === "true";
  return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
}
