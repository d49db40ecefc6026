import { assertNever } from "../../shared/assert-never.ts";
import { stringifyJson } from "../../shared/json.ts";
import { join, param, sql, type Sql } from "../sql.ts";
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

/** In an all-ASCII document, folding only changes the case of letters. */
function holdsFolded(field: Value, substr: Value): Sql | undefined {
  const column = payloadOf(field);
  const needle = beginningOf(textOf(substr, needleOfPart));
  if (column === undefined || needle === undefined || !ASCII.test(needle)) return undefined;
  return sql`(positionCaseInsensitive(${column}, ${param("String", needle)}) > 0 OR NOT isValidASCII(ifNull(${column}, '')))`;
}

// eslint-disable-next-line no-control-regex -- the ASCII range
const ASCII = /^[\u0000-\u007f]*$/;

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

/** The text in a payload that has a value whose text form contains `text`. */
function needleOfPart(text: string): string | undefined {
  return text === "" || ESCAPED.test(text) || TOUCHES_NUMBER.test(text) ? undefined : text;
}
