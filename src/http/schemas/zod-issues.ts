import { z } from "zod";
import { assertNever } from "../../shared/assert-never.ts";
import type { Issue } from "../../shared/errors.ts";

/** Prefix of the message; a schema may append the allowed names. */
export const EXTRA = "Extra inputs are not permitted";

type ZodIssue = z.core.$ZodIssue;

const typeByExpected: Readonly<Record<string, string>> = {
  string: "string_type",
  number: "float_type",
  int: "int_type",
  boolean: "bool_type",
  array: "list_type",
  object: "dict_type",
  record: "dict_type",
};

/** Converts zod's issues to error details: one per error, with the `loc` of the wrong value. */
export function toIssues(issues: readonly ZodIssue[], part: string): Issue[] {
  return issues.flatMap((issue) => issuesOf(issue, [part, ...issue.path.map(toLoc)]));
}

function toLoc(key: PropertyKey): string | number {
  return typeof key === "symbol" ? key.toString() : key;
}

function issuesOf(issue: ZodIssue, loc: readonly (string | number)[]): Issue[] {
  switch (issue.code) {
    case "invalid_type":
      return [invalidType(issue, loc)];
    case "unrecognized_keys":
      return issue.keys.map((key) => ({
        loc: [...loc, key],
        msg: issue.message.startsWith(EXTRA) ? issue.message : EXTRA,
        type: "extra_forbidden",
      }));
    case "too_small":
      return [
        {
          loc,
          msg: issue.message,
          type: boundType(issue.origin, "too_short", "greater_than", issue.inclusive),
        },
      ];
    case "too_big":
      return [
        { loc, msg: issue.message, type: boundType(issue.origin, "too_long", "less_than", issue.inclusive) },
      ];
    case "invalid_value":
      return [{ loc, msg: issue.message, type: "literal_error" }];
    case "invalid_format":
      return [
        {
          loc,
          msg: issue.message,
          type: issue.format === "datetime" ? "datetime_parsing" : "string_pattern_mismatch",
        },
      ];
    case "invalid_union":
      return unionIssues(issue, loc);
    case "custom":
      return [
        {
          loc,
          msg: issue.message,
          type: typeof issue.params?.["type"] === "string" ? issue.params["type"] : "value_error",
        },
      ];
    case "not_multiple_of":
    case "invalid_key":
    case "invalid_element":
      return [{ loc, msg: issue.message, type: "value_error" }];
    default:
      return assertNever(issue);
  }
}

/** Condition of a check of several members: runs if these have no issue, whatever others have. */
export function whenValid(...members: readonly string[]): z.core.$ZodSuperRefineParams {
  return {
    when: ({ value, issues }) =>
      isObject(value) && !issues.some(({ path }) => members.includes(String(path?.[0]))),
  };
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const WHOLE_NUMBER = "Input should be a whole number";

/** Integer with a clear message: zod's own mentions integers only for fractions, not for text. */
export function wholeNumber(): z.ZodInt {
  return z.int({ error: (issue) => (issue.code === "invalid_type" ? WHOLE_NUMBER : undefined) });
}

function invalidType(issue: z.core.$ZodIssueInvalidType, loc: readonly (string | number)[]): Issue {
  if (issue.input === undefined) return { loc, msg: "Field required", type: "missing" };
  const whole = issue.message === WHOLE_NUMBER;
  if (whole && typeof issue.input === "number") return { loc, msg: WHOLE_NUMBER, type: "int_from_float" };
  if (issue.expected === "number" && typeof issue.input === "string") {
    const msg = "Input should be a number, not text";
    return { loc, msg, type: whole ? "int_parsing" : "float_parsing" };
  }
  if (whole) return { loc, msg: WHOLE_NUMBER, type: "int_type" };
  return { loc, msg: issue.message, type: typeByExpected[issue.expected] ?? `${issue.expected}_type` };
}

function boundType(origin: string, size: string, bound: string, inclusive: boolean | undefined): string {
  if (origin !== "number" && origin !== "int" && origin !== "bigint") return size;
  return inclusive === false ? bound : `${bound}_equal`;
}

/** Finds the closest branch of a union: the one whose first issue is deepest. */
function unionIssues(issue: z.core.$ZodIssueInvalidUnion, loc: readonly (string | number)[]): Issue[] {
  const branches = issue.errors.map((errors) =>
    errors.flatMap((inner) => issuesOf(inner, [...loc, ...inner.path.map(toLoc)])),
  );
  const closest = branches.toSorted((a, b) => depthOf(b) - depthOf(a))[0];
  return closest === undefined || closest.length === 0
    ? [{ loc, msg: issue.message, type: "value_error" }]
    : closest;
}

function depthOf(issues: readonly Issue[]): number {
  return issues[0]?.loc.length ?? 0;
}
