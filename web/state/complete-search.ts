import { ALIASES, FIELDS, OF_ROOT, PAYLOADS, printValue, STATUSES } from "./search.ts";

/** The condition at the end of a search that is being typed. */
export interface Begun {
  /** The text before it, with its minus. */
  readonly before: string;
  /** Without a value: as far as it is typed. */
  readonly field: string;
  /** Undefined: the field is being typed. */
  readonly sign: string | undefined;
  /** As typed, without quotes. */
  readonly value: string;
}

/** A text that the box can take. */
export interface Suggestion {
  /** The whole search with it. */
  readonly value: string;
  readonly label: string;
  readonly hint: string;
}

/** A value that exists; null: none. */
export interface KnownValue {
  readonly value: string | null;
  readonly hint: string;
}

const BEGUN = /(^|\s)(-?)([A-Za-z_][^\s:<>="]*)?(?:(:|>=|<=|>|<|=)("(?:[^"\\]|\\.)*"?|[^\s"]*))?$/u;

/** Undefined inside quotes, in a query in JSON, and behind a word that is no name. */
export function readBegun(text: string): Begun | undefined {
  if (text.trimStart().startsWith("{")) return undefined;
  const found = BEGUN.exec(text);
  if (found === null) return undefined;
  const [, space = "", minus = "", field = "", sign, value = ""] = found;
  const before = text.slice(0, found.index) + space;
  const quotes = before.replaceAll(/\\./gu, "").split('"').length - 1;
  if (quotes % 2 === 1 || (field === "" && sign !== undefined)) return undefined;
  const plain = value.replace(/^"/u, "").replace(/"$/u, "").replaceAll(/\\(.)/gu, "$1");
  return { before: before + minus, field, sign, value: plain };
}

/** The field whose values, or the prefix whose fields, can be looked up. */
export function lookupOf(begun: Begun | undefined): Partial<Record<"values" | "prefix", string>> | undefined {
  if (begun === undefined) return undefined;
  const { field, sign } = begun;
  const name = nameOf(field);
  const payload = PAYLOADS.find((one) => name.startsWith(`${one}.`));
  if (sign === undefined) return payload === undefined ? undefined : { prefix: `${payload}.` };
  const isNamed = (Object.hasOwn(FIELDS, name) || ALIASES.has(name)) && name !== "status";
  return (sign === ":" || sign === "=") && (isNamed || payload !== undefined) ? { values: field } : undefined;
}

function nameOf(field: string): string {
  return field.startsWith(OF_ROOT) ? field.slice(OF_ROOT.length) : field;
}

const MAX_SHOWN = 50;

/** Names that go on as typed, or values of the field that contain what is typed. `known`: as looked up. */
export function suggestionsFor(
  begun: Begun | undefined,
  known: readonly KnownValue[],
): readonly Suggestion[] {
  if (begun === undefined) return [];
  const { before, field, sign, value } = begun;
  const name = nameOf(field);
  if (sign !== undefined) {
    const typed = value.toLowerCase();
    return [...valuesOf(field), ...known]
      .filter((one) => (one.value ?? "(none)").toLowerCase().includes(typed))
      .slice(0, MAX_SHOWN)
      .map((one) => ({
        value: `${before}${field}${sign}${printValue(name, one.value)} `,
        label: one.value ?? "(none)",
        hint: one.hint,
      }));
  }
  const prefix = field.startsWith(OF_ROOT) ? OF_ROOT : "";
  const names = Object.entries(FIELDS).map(([name, { kind, says }]) => ({
    name: `${prefix}${name}${["duration", "usd", "count"].includes(kind) ? ">" : ":"}`,
    hint: says,
  }));
  const others = [...ALIASES].map(([name, of]) => ({ name: `${prefix}${name}:`, hint: `the same as ${of}` }));
  const paths = PAYLOADS.map((name) => ({ name: `${prefix}${name}.`, hint: "a field of the payload" }));
  const root = prefix === "" ? [{ name: OF_ROOT, hint: "a condition on the root, not on any call" }] : [];
  const found = known.map((one) => ({ name: `${prefix}${one.value ?? ""}:`, hint: one.hint }));
  return [...found, ...names, ...others, ...root, ...paths]
    .filter(({ name }) => name.startsWith(field) && name !== field)
    .slice(0, MAX_SHOWN)
    .map(({ name, hint }) => ({ value: `${before}${name}`, label: name, hint }));
}

function valuesOf(field: string): readonly KnownValue[] {
  const says = { failed: "has an exception", running: "has no end", success: "" } as const;
  if (field === "status") return Object.entries(says).map(([value, hint]) => ({ value, hint }));
  if (field === `${OF_ROOT}status`)
    return Object.keys(STATUSES).map((value) => ({
      value,
      hint: value === "descendant_error" ? "a call below failed, by its summary" : "",
    }));
  if (field.endsWith("latency")) return ["500ms", "2s", "1min"].map((value) => ({ value, hint: "" }));
  return [];
}
