import { assertNever } from "../../shared/assert-never.ts";
import { stringifyJson } from "../../shared/json.ts";
import { join, param, sql, type Sql } from "../sql.ts";
import { charactersFoldedInto, longest, longestCaselessRun } from "./case-folding.ts";
import type { Condition, Value } from "../read/typed.ts";

/** The engine's search for several needles takes no more. */
const MAX_NEEDLES = 255;
const MAX_NEEDLE_LENGTH = 256;

/**
 * A cheaper condition that this one implies: the payload contains the text somewhere. Documents without the text are not
 * parsed. Undefined if there is none, and always under `$not`, where a superset would turn into a subset.
 *
 * It rests on payloads being canonical JSON, as `stringifyJson` writes them.
 */
export function printPrefilter(condition: Condition): Sql | undefined {
  switch (condition.kind) {
    case "and": {
      const filters = condition.conditions.map(printPrefilter).filter((filter) => filter !== undefined);
      return filters.length > 1 ? sql`(${join(filters, " AND ")})` : filters[0];
    }
    case "or": {
      const filters = condition.conditions.map(printPrefilter);
      if (!filters.every((filter) => filter !== undefined)) return undefined;
      return filters.length > 1 ? sql`(${join(filters, " OR ")})` : filters[0];
    }
    case "compare": {
      if (condition.operator !== "$eq" || condition.context !== "text") return undefined;
      const { left, right } = condition;
      return holdsOneOf(left, [right], needleOfWhole) ?? holdsOneOf(right, [left], needleOfWhole);
    }
    case "one_of":
      if (condition.context !== "text") return undefined;
      return holdsOneOf(condition.value, condition.constants, needleOfWhole);
    case "contains":
      return condition.caseInsensitive
        ? holdsFolded(condition.input, condition.substr)
        : holdsOneOf(condition.input, [condition.substr], needleOfPart);
    case "not":
    case "with":
    case "never":
    case "unknown":
    case "absent":
    case "truth":
    case "any_feedback":
      return undefined;
    default:
      return assertNever(condition);
  }
}

function holdsOneOf(
  field: Value,
  texts: readonly Value[],
  needleOf: (text: string) => string | undefined,
): Sql | undefined {
  const column = payloadOf(field);
  const needles = texts.map((text) => beginningOf(textOf(text, needleOf)));
  if (column === undefined || needles.length > MAX_NEEDLES) return undefined;
  if (!needles.every((needle) => needle !== undefined)) return undefined;
  const [needle] = needles;
  return needles.length === 1 && needle !== undefined
    ? sql`(position(${column}, ${param("String", needle)}) > 0)`
    : sql`multiSearchAny(${column}, ${param("Array(String)", needles)})`;
}

/** The longest part of the text in which only the case of ASCII letters may differ, or characters that fold to such letters. */
function holdsFolded(field: Value, substr: Value): Sql | undefined {
  const column = payloadOf(field);
  const text = textOf(substr, needleOfPart);
  const needle = text === undefined ? undefined : beginningOf(longestCaselessRun(text));
  if (column === undefined || needle === undefined) return undefined;
  const found = sql`positionCaseInsensitive(${column}, ${param("String", needle)}) > 0`;
  const others = charactersFoldedInto(needle);
  if (others.length === 0) return sql`(${found})`;
  return sql`(${found} OR (NOT isValidASCII(ifNull(${column}, '')) AND multiSearchAny(${column}, ${param("Array(String)", others)})))`;
}

function payloadOf(field: Value): Sql | undefined {
  return field.type === "json" && (field.kind === "path" || field.kind === "column")
    ? field.column.sql
    : undefined;
}

function textOf(value: Value, needleOf: (text: string) => string | undefined): string | undefined {
  return value.kind === "constant" && value.type === "string" ? needleOf(value.value) : undefined;
}

/** Long enough to be rare. A prefix occurs wherever the text does, unless it was cut between surrogates. */
function beginningOf(needle: string | undefined): string | undefined {
  return needle?.slice(0, MAX_NEEDLE_LENGTH).replace(/[\ud800-\udbff]$/, "");
}

/** Text forms that a payload may contain without quotes or in another spelling: containers, numbers, booleans. */
const UNQUOTED = /^(?:[[{]|-?\d+(?:\.\d+)?(?:e-?\d+)?$|true$|false$)/;
const SHORT_INTEGER = /^-?\d{1,15}$/;

/** The text in a payload that has a value whose text form equals `text`. */
function needleOfWhole(text: string): string | undefined {
  if (SHORT_INTEGER.test(text)) return text;
  return text === "" || UNQUOTED.test(text) ? undefined : stringifyJson(text);
}

/** Characters that JSON escapes, so they look different inside a string. */
// eslint-disable-next-line no-control-regex -- it searches for control characters
const ESCAPED = /["\\\u0000-\u001f\u2028\u2029]/;
/** Text that may overlap a number of a container's text form. The payload may write the number differently. */
const TOUCHES_NUMBER = /^[-+.\de]+$|\d[,\]}]|[[,:][-\d]/i;
/** Positions at which a text is cut, so that each piece is within one string, number, boolean or null. */
// eslint-disable-next-line no-control-regex -- it searches for control characters
const ESCAPED_OR_STRUCTURE = /[[\]{},:"\\\u0000-\u001f\u2028\u2029]+/;

/** The text in a payload that has a value whose text form contains `text`: all of it, or its longest possible piece. */
function needleOfPart(text: string): string | undefined {
  return isSpelledAlike(text) ? text : longest(text.split(ESCAPED_OR_STRUCTURE).filter(isSpelledAlike));
}

function isSpelledAlike(text: string): boolean {
  return text !== "" && !ESCAPED.test(text) && !TOUCHES_NUMBER.test(text);
}
