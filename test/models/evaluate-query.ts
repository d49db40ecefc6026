import type { StoredCall } from "../helpers/stored-calls.ts";

/**
 * The query language as its reference page has it, over a call in memory. It shares nothing with the compiler: no
 * table, no parser, no cast. True, false, or null for unknown.
 */
export function evaluateQuery(query: { $expr: object }, call: StoredCall): boolean | null {
  return truth(evaluate(query.$expr, call));
}

/** A value as the reference sees it, before a context asks for it. */
type Seen =
  | { is: "json"; value: unknown }
  | { is: "column"; value: string }
  | { is: "string"; value: string }
  | { is: "number"; value: number | null; text?: string }
  | { is: "bool"; value: number | null }
  | { is: "instant"; value: bigint | null }
  | { is: "refs"; value: readonly string[] };

type Context = "text" | "number" | "bool" | "instant";

function evaluate(operand: object, call: StoredCall): Seen {
  const [operator, given] = Object.entries(operand)[0] as [string, never];
  const of = (inner: object): Seen => evaluate(inner, call);
  switch (operator) {
    case "$literal":
      return literal(given);
    case "$getField":
      return field(given, call);
    case "$convert":
      return convert(of(given["input"]), given["to"]);
    case "$and":
      return bool(all((given as object[]).map((inner) => truth(of(inner)))));
    case "$or":
      return bool(any((given as object[]).map((inner) => truth(of(inner)))));
    case "$not":
      return bool(not(truth(of(given[0]))));
    case "$in":
      return bool(isIn(of(given[0]), (given[1] as object[]).map(of)));
    case "$contains":
      return bool(contains(of(given["input"]), of(given["substr"]), given["case_insensitive"] ?? false));
    default:
      return bool(compare(operator, of(given[0]), of(given[1])));
  }
}

function bool(value: boolean | null): Seen {
  return { is: "bool", value: value === null ? null : Number(value) };
}

function literal(value: unknown): Seen {
  if (typeof value === "string") return { is: "string", value };
  if (typeof value === "number") return { is: "number", value };
  if (typeof value === "boolean") return bool(value);
  if (value === null) return NULL_LITERAL;
  return { is: "string", value: compact(unwrapped(value)) };
}

function unwrapped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: { $literal: unknown }) => unwrapped(item.$literal));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, unwrapped((item as { $literal: unknown }).$literal)]),
  );
}

const TEXT_COLUMNS = new Set(
  "id project_id trace_id parent_id op_name display_name thread_id turn_id exception svc_user_id svc_run_id".split(
    " ",
  ),
);
const INSTANT_COLUMNS = new Set(["started_at", "ended_at", "deleted_at"]);

function field(name: string, call: StoredCall): Seen {
  if (TEXT_COLUMNS.has(name))
    return { is: "column", value: (call[name as keyof StoredCall] as string | null) ?? "" };
  if (INSTANT_COLUMNS.has(name)) {
    const text = call[name as keyof StoredCall] as string | null;
    return { is: "instant", value: text === null ? null : instant(text) };
  }
  if (name === "svc_run_step") return { is: "number", value: call.svc_run_step };
  if (name === "input_refs" || name === "output_refs") return { is: "refs", value: [...new Set(call[name])] };
  if (name === "summary.weave.status") return { is: "string", value: status(call) };
  if (name === "summary.weave.latency_ms") {
    const elapsed = call.ended_at === null ? null : instant(call.ended_at)! - instant(call.started_at)!;
    return { is: "number", value: elapsed === null ? null : Number(elapsed / 1000n) };
  }
  if (name === "summary.weave.trace_name") return { is: "column", value: traceName(call) };
  const [head, ...steps] = name.split(/(?<!\\)\./).map((part) => part.replaceAll(String.raw`\.`, "."));
  const document = call[head as "inputs"];
  const value = steps.reduce(step, document);
  return { is: "json", value: head === "attributes" ? (value ?? inDottedKeys(document, steps)) : value };
}

/** The rest of a path in one key, from the first of its steps on where there is such a key. */
function inDottedKeys(document: unknown, steps: readonly string[]): unknown {
  const found = steps
    .slice(0, -1)
    .slice(0, 8)
    .map((_, at) => [...steps.slice(0, at), steps.slice(at).join(".")].reduce(step, document));
  return found.find((value) => value !== undefined);
}

function step(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return /^(?:0|-?[1-9]\d*)$/.test(key) ? value.at(Number(key)) : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  return Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
}

function status(call: StoredCall): string {
  if (call.exception !== null && call.exception !== "") return "error";
  const errors = field("summary.status_counts.error", call);
  if ((as("number", errors) as number | null) !== null && (as("number", errors) as number) > 0)
    return "descendant_error";
  return call.ended_at === null ? "running" : "success";
}

function traceName(call: StoredCall): string {
  if (call.display_name !== null && call.display_name !== "") return call.display_name;
  if (!call.op_name.startsWith("weave:///")) return call.op_name;
  return call.op_name.slice(call.op_name.lastIndexOf("/") + 1).split(":")[0]!;
}

/** How a number reads as text: as JavaScript writes it, but for the plus of an exponent. */
function numberText(value: number): string {
  return String(value).replace("e+", "e");
}

/** Compact JSON; of what may be escaped or not, the control characters are, with capitals, and the line separators. */
function compact(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(compact).join(",")}]`;
  if (typeof value === "number") return numberText(value);
  if (typeof value === "string") {
    // eslint-disable-next-line no-control-regex -- control characters are what is looked for
    const escaped = value.replace(/["\\\u0000-\u001f\u2028\u2029]/g, (character) => {
      const short = '"\\\b\f\n\r\t'.indexOf(character);
      if (short >= 0) return `\\${'"\\bfnrt'[short]}`;
      return `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
    });
    return `"${escaped}"`;
  }
  if (typeof value !== "object" || value === null) return String(value);
  return `{${Object.entries(value)
    .map(([name, item]) => `${compact(name)}:${compact(item)}`)
    .join(",")}}`;
}

function absent(seen: Seen): boolean {
  if (seen.is === "json") return seen.value === undefined || seen.value === null;
  if (seen.is === "column") return seen.value === "";
  return seen.is !== "refs" && seen.value === null;
}

function textOf(seen: Seen): string {
  if (absent(seen)) return "";
  switch (seen.is) {
    case "json":
      return typeof seen.value === "string" ? seen.value : compact(seen.value);
    case "number":
      return seen.text ?? numberText(seen.value!);
    case "bool":
      return seen.value === 0 ? "false" : "true";
    case "instant": {
      const micros = seen.value!;
      const iso = new Date(Number(micros / 1000n)).toISOString();
      return `${iso.slice(0, 23)}${String(micros % 1000n).padStart(3, "0")}Z`;
    }
    case "refs":
      return JSON.stringify(seen.value.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
    case "column":
    case "string":
      return seen.value;
    default:
      return seen satisfies never;
  }
}

function as(context: Context, seen: Seen): string | number | bigint | null {
  switch (context) {
    case "text":
      return textOf(seen);
    case "number":
      if (seen.is === "number") return seen.value;
      return seen.is === "bool" || seen.is === "instant" || seen.is === "refs" ? null : decimal(textOf(seen));
    case "bool": {
      if (seen.is === "bool") return seen.value;
      const text = textOf(seen);
      if (text === "true" || text === "false") return Number(text === "true");
      return /^\+?\d+$/.test(text) && Number(text) <= 255 ? Number(text) : null;
    }
    case "instant":
      if (seen.is === "instant") return seen.value;
      if (seen.is === "number") return seen.value === null ? null : BigInt(Math.round(seen.value * 1e6));
      if (seen.is === "bool" || seen.is === "refs") return null;
      return instant(textOf(seen));
    default:
      return context satisfies never;
  }
}

function decimal(text: string): number | null {
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) return null;
  return Number.isFinite(Number(text)) ? Number(text) : null;
}

/** Microseconds. */
function instant(text: string): bigint | null {
  if (/^\d{9,10}(?:\.\d+)?$/.test(text)) {
    const [seconds, fraction = ""] = text.split(".");
    return BigInt(seconds!) * 1_000_000n + BigInt(fraction.slice(0, 6).padEnd(6, "0"));
  }
  const match =
    /^(\d{4}-\d\d-\d\d)(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d+))?)?(Z|[+-]\d\d:?\d\d)?)?$/.exec(
      text,
    );
  if (match === null) return null;
  const [, date, hour = "00", minute = "00", second = "00", fraction = "", zone = "Z"] = match;
  const offset = zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone;
  const ms = Date.parse(`${date}T${hour}:${minute}:${second}${offset}`);
  // The parser takes February 30th for the first of March.
  if (Number.isNaN(ms) || new Date(`${date}T00:00:00Z`).toISOString().slice(0, 10) !== date) return null;
  return BigInt(ms) * 1000n + BigInt(fraction.slice(0, 6).padEnd(6, "0"));
}

function convert(seen: Seen, to: string): Seen {
  switch (to) {
    case "double":
      return { is: "number", value: as("number", seen) as number | null };
    case "int": {
      const text = textOf(seen);
      if (!/^[+-]?\d+$/.test(text)) return { is: "number", value: null };
      const integer = BigInt(text);
      const fits = integer >= -(2n ** 63n) && integer < 2n ** 63n;
      return fits
        ? { is: "number", value: Number(integer), text: String(integer) }
        : { is: "number", value: null };
    }
    case "string":
      return { is: "string", value: textOf(seen) };
    case "bool":
      return { is: "bool", value: as("bool", seen) as number | null };
    default:
      return bool(!absent(seen));
  }
}

function truth(seen: Seen): boolean | null {
  const value = as("bool", seen);
  return value === null ? null : value !== 0;
}

function contextOf(one: Seen, others: readonly Seen[]): Context {
  if ([one, ...others].some((seen) => seen.is === "instant")) return "instant";
  const decides = (is: string): boolean =>
    one.is === is || (others.length > 0 && others.every((other) => other.is === is));
  if (decides("number")) return "number";
  return decides("bool") ? "bool" : "text";
}

/** One object, so that it is told apart from a field that is null. */
const NULL_LITERAL: Seen = { is: "json", value: null };

function isNullLiteral(seen: Seen): boolean {
  return seen === NULL_LITERAL;
}

function compare(operator: string, a: Seen, b: Seen): boolean | null {
  if (isNullLiteral(a) || isNullLiteral(b)) {
    return operator === "$eq" ? absent(isNullLiteral(b) ? a : b) : null;
  }
  if (operator !== "$eq" && a.is === "json" && b.is === "json") {
    return compareIn("number", operator, a, b) ?? compareIn("text", operator, a, b);
  }
  return compareIn(contextOf(a, [b]), operator, a, b);
}

function compareIn(context: Context, operator: string, a: Seen, b: Seen): boolean | null {
  const left = as(context, a);
  const right = as(context, b);
  if (left === null || right === null) return null;
  const order =
    context === "text"
      ? Buffer.compare(Buffer.from(left as string), Buffer.from(right as string))
      : left < right
        ? -1
        : left > right
          ? 1
          : 0;
  switch (operator) {
    case "$eq":
      return order === 0;
    case "$gt":
      return order > 0;
    case "$lt":
      return order < 0;
    case "$gte":
      return order >= 0;
    default:
      return order <= 0;
  }
}

function isIn(one: Seen, list: readonly Seen[]): boolean | null {
  const context = contextOf(
    one,
    list.filter((element) => !isNullLiteral(element)),
  );
  return any(
    list.map((element) =>
      isNullLiteral(one) || isNullLiteral(element)
        ? absent(isNullLiteral(element) ? one : element)
        : compareIn(context, "$eq", one, element),
    ),
  );
}

function contains(input: Seen, substr: Seen, caseInsensitive: boolean): boolean | null {
  if (isNullLiteral(substr)) return null;
  const fold = (text: string): string => (caseInsensitive ? foldCase(text) : text);
  const needle = fold(textOf(substr));
  if (input.is === "refs") return ["", ...input.value].some((ref) => fold(ref).includes(needle));
  return fold(textOf(input)).includes(needle);
}

/** Full case folding, for the letters the tests use: by way of upper case, which ß and the final sigma need. */
function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase().replaceAll("ς", "σ");
}

function not(value: boolean | null): boolean | null {
  return value === null ? null : !value;
}

function all(values: readonly (boolean | null)[]): boolean | null {
  if (values.includes(false)) return false;
  return values.includes(null) ? null : true;
}

function any(values: readonly (boolean | null)[]): boolean | null {
  if (values.includes(true)) return true;
  return values.includes(null) ? null : false;
}
