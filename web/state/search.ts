import { piecesOf } from "../format/error-pattern.ts";
import { partOfAddress, printOp, readOp } from "../format/op-name.ts";

/** Parsed search: words to find in any text, and conditions such as `status:failed` or `latency>11s`. */
export interface Search {
  readonly words: readonly string[];
  readonly conditions: readonly Condition[];
}

export interface Condition {
  /** A name of `FIELDS`, or a path in a payload. */
  readonly field: string;
  readonly op: ":" | ">" | ">=" | "<" | "<=";
  /** As typed, without quotes; null: the call has none. */
  readonly value: string | null;
  readonly isNot: boolean;
  /** True of the root of a trace, and not of any call: `root.user:ana`. */
  readonly ofRoot?: boolean;
}

interface Field {
  readonly kind: "text" | "status" | "duration" | "feedback" | "usd" | "count";
  /** Field of calls; of a sum over a whole trace, its name in `totals`. */
  readonly path: string;
  readonly says: string;
}

/** The names that can be asked for. */
export const FIELDS = {
  status: { kind: "status", path: "summary.weave.status", says: "failed, running, success" },
  op: { kind: "text", path: "op_name", says: "the operation" },
  name: { kind: "text", path: "summary.weave.trace_name", says: "the name that is shown" },
  model: { kind: "text", path: "summary.usage", says: "a model that was used" },
  user: { kind: "text", path: "svc_user_id", says: "who" },
  run: { kind: "text", path: "svc_run_id", says: "the run" },
  thread: { kind: "text", path: "thread_id", says: "the thread, or the session" },
  turn: { kind: "text", path: "turn_id", says: "the turn, or the prompt" },
  trace: { kind: "text", path: "trace_id", says: "the trace's id" },
  id: { kind: "text", path: "id", says: "the call's id" },
  error: { kind: "text", path: "exception", says: "text of the exception" },
  feedback: { kind: "feedback", path: "feedback", says: "a type of its feedback" },
  latency: { kind: "duration", path: "summary.weave.latency_ms", says: "300ms, 11s, 2min" },
  cost: { kind: "usd", path: "total_cost", says: "dollars of the whole trace, 0.1" },
  wasted: { kind: "usd", path: "wasted_cost", says: "dollars of failed calls and what is below them" },
  tokens: { kind: "count", path: "total_tokens", says: "tokens of the whole trace, 1000" },
  calls: { kind: "count", path: "calls", says: "calls in the trace, 10" },
  failed: { kind: "count", path: "failed", says: "failed calls in the trace, 0" },
} as const satisfies Readonly<Record<string, Field>>;
export type FieldName = keyof typeof FIELDS;
export const PAYLOADS = ["inputs", "output", "attributes", "summary"];
/** Other names of fields. */
export const ALIASES: ReadonlyMap<string, FieldName> = new Map([["exception", "error"]]);
const NONE = "none";
/** Prefix of a condition on the root of a trace. */
export const OF_ROOT = "root.";

function isNamed(field: string): field is FieldName {
  return Object.hasOwn(FIELDS, field);
}

/** Whether a condition compares a sum over a whole trace: no call has it. */
export function isSum({ field }: Condition): boolean {
  return isNamed(field) && ["usd", "count"].includes(FIELDS[field].kind);
}

export function isPath(field: string): boolean {
  return PAYLOADS.some((name) => field.startsWith(`${name}.`) && field.length > name.length + 1);
}

/** A fault in the text, and what to write instead. */
export interface SearchFault {
  readonly part: string;
  readonly msg: string;
}

const PART = /(-?)([A-Za-z_][^\s:<>="]*)(:|>=|<=|>|<|=)("(?:[^"\\]|\\.)*"|\S*)|"((?:[^"\\]|\\.)*)"|(\S+)/gu;

/** Reads a search; everything wrong is told. */
export function readSearch(text: string): {
  readonly search: Search;
  readonly faults: readonly SearchFault[];
} {
  const [words, conditions, faults]: [string[], Condition[], SearchFault[]] = [[], [], []];
  for (const [part, minus = "", field, sign, value, quoted, word] of text.matchAll(PART)) {
    if (field === undefined || sign === undefined || value === undefined) {
      words.push(quoted === undefined ? (word ?? "") : unquoted(quoted));
      continue;
    }
    // an address such as https://… is a word
    if (value.startsWith("//")) {
      words.push(part);
      continue;
    }
    const op = sign === "=" ? ":" : (sign as Condition["op"]);
    const isQuoted = value.startsWith('"') && value.endsWith('"') && value.length > 1;
    const plain = isQuoted ? unquoted(value.slice(1, -1)) : value;
    const ofRoot = field.startsWith(OF_ROOT);
    const name = ofRoot ? field.slice(OF_ROOT.length) : field;
    const meant = name === "op" && !isQuoted ? readOp(plain) : plain;
    const condition = {
      field: ALIASES.get(name) ?? name,
      op,
      value: !isQuoted && plain === NONE ? null : meant,
      isNot: minus === "-",
      ...(ofRoot && { ofRoot }),
    };
    const fault = faultOf(condition);
    if (fault === undefined) conditions.push(condition);
    else faults.push({ part, msg: fault });
  }
  return { search: { words, conditions }, faults };
}

function faultOf({ field, op, value, isNot, ofRoot = false }: Condition): string | undefined {
  if (field === "") return `Say which field of the root: ${OF_ROOT}status:failed, for example.`;
  if (!isNamed(field)) {
    if (isPath(field)) return value === "" ? `Say what ${field} should be.` : undefined;
    const near = nearest(field);
    const hint = near === undefined ? "" : ` Did you mean ${near}?`;
    return PAYLOADS.includes(field) || PAYLOADS.includes(field.replace(/\.$/, ""))
      ? `Say which path: ${field.replace(/\.$/, "")}.question, for example.`
      : `Nothing is called ${field}.${hint} Put it in quotes to look for it as text.`;
  }
  const { kind, says } = FIELDS[field];
  if (value === "") return `Say what ${field} should be: ${says}.`;
  if (kind === "duration")
    return durationMs(value ?? "") === undefined ? `${field} is a duration: ${says}.` : undefined;
  if (kind === "usd" || kind === "count") {
    const isWhole = kind === "count";
    const isNumber = (isWhole ? /^\d{1,12}$/ : /^\d{1,12}(\.\d+)?$/).test(value ?? "");
    if (!isNumber) return `${field} is ${isWhole ? "a whole" : "a"} number: ${says}.`;
    return op === ":" || isNot || ofRoot
      ? `Compare ${field}, which is of the whole trace: ${field}>${value}, with >, >=, < or <=.`
      : undefined;
  }
  if (op !== ":") return `${field} has no order: write ${field}:${value ?? NONE}.`;
  if (kind === "feedback" && (value === null || value.includes("]")))
    return "Say which type of feedback; none is no type, and a name with ] cannot be asked for.";
  if (kind === "status" && !(value !== null && Object.hasOwn(STATUSES, value)))
    return `A status is ${Object.keys(STATUSES).join(", ")}.`;
  return undefined;
}

function nearest(name: string): string | undefined {
  const known = [...Object.keys(FIELDS), ...PAYLOADS];
  const wrong = name.toLowerCase();
  return (
    known.find((one) => one.startsWith(wrong) || wrong.startsWith(one)) ??
    known.find((one) => one.split("").filter((letter) => wrong.includes(letter)).length >= one.length - 1)
  );
}

const MS = { ms: 1, s: 1000, min: 60_000, m: 60_000, h: 3_600_000, "": 1000 } as const;

/** Undefined: it is none. */
export function durationMs(value: string): number | undefined {
  const [, digits, unit = ""] = /^(\d+(?:\.\d+)?)\s*(ms|s|min|m|h)?$/.exec(value) ?? [];
  return digits === undefined ? undefined : Number(digits) * MS[unit as keyof typeof MS];
}

/** As a search names them, and as the service does. */
export const STATUSES = {
  failed: "error",
  running: "running",
  success: "success",
  descendant_error: "descendant_error",
} as const;

function unquoted(text: string): string {
  return text.replaceAll(/\\(.)/gu, "$1");
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/gu, String.raw`\$&`)}"`;
}

function quotedIfNeeded(value: string): string {
  const isRead = value !== NONE && value !== "" && !value.startsWith("//") && !/[\s"\\]/u.test(value);
  return isRead ? value : quoted(value);
}

/** A value of a field, as a search has it. */
export function printValue(field: string, value: string | null): string {
  if (value === null) return NONE;
  if (field !== "op") return quotedIfNeeded(value);
  return readOp(value) === value ? quotedIfNeeded(printOp(value)) : quoted(value);
}

export function printCondition({ field, op, value, isNot, ofRoot = false }: Condition): string {
  return `${isNot ? "-" : ""}${ofRoot ? OF_ROOT : ""}${field}${op}${printValue(field, value)}`;
}

export function printSearch({ words, conditions }: Search): string {
  return [
    ...conditions.map(printCondition),
    ...words.map((word) => (/^[^\s{]\S*$/u.test(word) && isOneWord(word) ? word : quoted(word))),
  ].join(" ");
}

function isOneWord(word: string): boolean {
  const { search, faults } = readSearch(word);
  return faults.length === 0 && search.words.length === 1 && search.words[0] === word;
}

/** The text with one more condition; the same one twice says no more than once. */
export function withCondition(text: string, condition: Condition): string {
  const { search } = readSearch(text);
  const printed = printCondition(condition);
  if (search.conditions.some((one) => printCondition(one) === printed)) return text;
  return printSearch({ ...search, conditions: [...search.conditions, condition] });
}

const get = (field: string) => ({ $getField: field });
const literal = (value: unknown) => ({ $literal: value });
const OPS = { ">": "$gt", ">=": "$gte", "<": "$lt", "<=": "$lte", ":": "$eq" } as const;

/** An operand of `$expr` over calls, without conditions on sums; undefined: there is no condition. */
export function operandOfCalls({ words, conditions }: Search): unknown {
  const fields = ["inputs", "output", "exception", "op_name", "attributes"];
  const isRoot = { $eq: [get("parent_id"), literal(null)] };
  const operands = conditions
    .filter((one) => !isSum(one))
    .map((one) => (one.ofRoot === true ? { $and: [isRoot, operandOf(one)] } : operandOf(one)));
  return allOf([...operands, ...words.map((word) => wordIn(word, fields))]);
}

export function allOf(operands: readonly unknown[]): unknown {
  return operands.length > 1 ? { $and: operands } : operands[0];
}

export function wordIn(word: string, fields: readonly string[]): unknown {
  return { $or: fields.map((field) => containsIn(field, word)) };
}

function containsIn(field: string, text: string): unknown {
  return { $contains: { input: get(field), substr: literal(text), case_insensitive: true } };
}

export function operandOf(condition: Condition): unknown {
  const operand = positiveOperandOf(condition);
  return condition.isNot ? { $not: [operand] } : operand;
}

function positiveOperandOf({ field, op, value, ofRoot = false }: Condition): unknown {
  if (!isNamed(field)) {
    const number = op === ":" || value === null ? undefined : Number(value);
    return {
      [OPS[op]]: [get(field), literal(number === undefined || Number.isNaN(number) ? value : number)],
    };
  }
  const { kind, path } = FIELDS[field];
  if (field === "model") {
    if (value === null) return { $not: [{ $convert: { input: get("summary.usage"), to: "exists" } }] };
    const isUsed = { $convert: { input: get(`summary.usage.${escaped(value)}`), to: "exists" } };
    return { $eq: [isUsed, literal(true)] };
  }
  if (kind === "feedback") {
    const payload = { $convert: { input: get(`feedback.[${value ?? ""}].payload`), to: "exists" } };
    return { $eq: [payload, literal(true)] };
  }
  if (kind === "duration") return { [OPS[op]]: [get(path), literal(durationMs(value ?? "") ?? 0)] };
  if (kind === "status") return { $eq: [get(path), literal(STATUSES[value as keyof typeof STATUSES])] };
  if (value === null) return { $eq: [get(path), literal(null)] };
  if (field === "error")
    return allOf(piecesOf(value).map((piece) => containsIn(path, piece))) ?? containsIn(path, value);
  const isEqual = { $eq: [get(path), literal(value)] };
  const part = field === "op" ? partOfAddress(value) : undefined;
  if (part === undefined) return isEqual;
  const isAddressed = { $contains: { input: get(path), substr: literal(part) } };
  // of the root, the operation alone, as traces are counted by it
  const isShown = { $eq: [get("summary.weave.trace_name"), literal(value)] };
  return { $or: [isEqual, isAddressed, ...(ofRoot ? [] : [isShown])] };
}

/** A key as a step of a path. */
function escaped(key: string): string {
  return key.replaceAll("\\", "\\\\").replaceAll(".", String.raw`\.`);
}
