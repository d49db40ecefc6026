import type { z } from "zod";
import { AppError, type Issue } from "../shared/errors.ts";
import { toIssues } from "./schemas/zod-issues.ts";

/** A rejected item, and why. The others of its batch are stored. */
export interface Rejected {
  readonly index: number;
  readonly detail: string | readonly Issue[];
}

export interface Sorted<Item> {
  readonly accepted: readonly (Item & { readonly index: number })[];
  readonly rejected: readonly Rejected[];
}

/**
 * Checks the items of a batch one by one. Errors: forbidden, if every item is forbidden: then the client has the wrong
 * key.
 */
export function sortBatch<Message, Item extends object>(
  items: readonly unknown[],
  schema: z.ZodType<Message>,
  toItem: (message: Message) => Item,
): Sorted<Item> {
  const accepted: (Item & { index: number })[] = [];
  const rejected: Rejected[] = [];
  let refusal: AppError | undefined;
  items.forEach((item, index) => {
    const parsed = schema.safeParse(item, { reportInput: true });
    if (!parsed.success) {
      rejected.push({ index, detail: inBatch(toIssues(parsed.error.issues, "body"), index) });
      return;
    }
    try {
      accepted.push({ ...toItem(parsed.data), index });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const isInvalid = error.code === "validation";
      rejected.push({ index, detail: isInvalid ? inBatch(error.issues, index) : error.message });
      if (error.code === "forbidden") refusal = error;
    }
  });
  if (refusal !== undefined && accepted.length === 0) throw refusal;
  return { accepted, rejected };
}

function inBatch(issues: readonly Issue[], index: number): Issue[] {
  return issues.map((issue) => {
    const [part = "body", ...rest] = issue.loc;
    return { ...issue, loc: [part, "batch", index, ...rest] };
  });
}
