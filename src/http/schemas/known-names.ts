import { z } from "zod";
import { EXTRA } from "./zod-issues.ts";
import { didYouMean } from "../../query/nearest-names.ts";

/** Schema for one of some names; the error of an unknown one suggests the nearest. */
export function oneOfNames<const Names extends readonly string[]>(names: Names) {
  return z.enum(names, {
    error: ({ input }) =>
      typeof input === "string"
        ? `Input should be ${names.join(", ")}.${didYouMean(input, names)}`
        : undefined,
  });
}

/** Schema for an object with only these members; the error of an unknown one suggests the nearest. */
export function knownMembers<Shape extends z.core.$ZodShape>(shape: Shape) {
  const names = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `${EXTRA}.${issue.keys.map((key) => didYouMean(key, names)).join("")}`
        : undefined,
  });
}
