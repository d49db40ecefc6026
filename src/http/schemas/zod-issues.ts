import { z } from "zod";
import type { Issue } from "../../shared/errors.ts";

/** Prefix of the message; a schema may append the allowed names. */
export const EXTRA = "Extra inputs are not permitted";

type ZodIssue = z.core.$ZodIssue;

const typeByExpected: Readonly<Record<string, string>> = {
  string: "string_type",
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

function issuesOf(issue: ZodIssue, loc: readonly (string | number)[]): readonly Issue[] {
  if (issue.code === "invalid_union") return unionIssues(issue, loc);
  if (issue.code === "unrecognized_keys") {
    const msg = issue.message.startsWith(EXTRA) ? issue.message : EXTRA;
    return issue.keys.map((key) => ({ loc: [...loc, key], msg, type: "extra_forbidden" }));
  }
  const isMissing = issue.code === "invalid_type" && issue.input === undefined;
  return [{ loc, msg: isMissing ? "Field required" : issue.message, type: typeOf(issue) }];
}

/** The `type` names of pydantic. */
function typeOf(issue: ZodIssue): string {
  if (issue.code === "invalid_type") return wrongType(issue);
  if (issue.code === "too_small") return boundType(issue, "too_short", "greater_than");
  if (issue.code === "too_big") return boundType(issue, "too_long", "less_than");
  if (issue.code === "invalid_value") return "literal_error";
  if (issue.code === "invalid_format")
    return issue.format === "datetime" ? "datetime_parsing" : "string_pattern_mismatch";
  return issue.code === "custom" ? String(issue.params?.["type"] ?? "value_error") : "value_error";
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

function wrongType({ input, expected, message }: z.core.$ZodIssueInvalidType): string {
  if (input === undefined) return "missing";
  if (expected === "number" || expected === "int") {
    const number = message === WHOLE_NUMBER ? "int" : "float";
    if (typeof input === "number") return `${number}_from_float`;
    return `${number}_${typeof input === "string" ? "parsing" : "type"}`;
  }
  return typeByExpected[expected] ?? `${expected}_type`;
}

function boundType(
  { origin, inclusive }: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig,
  size: string,
  bound: string,
): string {
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
