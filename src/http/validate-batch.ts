import type { z } from "zod";
import { pacer } from "../fairness/turns.ts";
import { AppError, invalid, MAX_ISSUES, type Issue } from "../shared/errors.ts";
import { toIssues } from "./schemas/zod-issues.ts";

/** Rejected item and its reason. The others of its batch are stored. */
export interface Rejected {
  readonly index: number;
  readonly detail: string | readonly Issue[];
}

export interface Sorted<Item> {
  readonly accepted: readonly (Item & { readonly index: number })[];
  readonly rejected: readonly Rejected[];
}

const NOT_DESCRIBED = "It does not validate.";

/**
 * Validates the items of a batch one by one, and lets other work run in between. Only the first invalid items get details, so that the response is no larger than
 * the batch. Errors: forbidden if every item is forbidden, because then the client has the wrong key.
 */
export async function validateBatch<Message, Item extends object>(
  items: readonly unknown[],
  schema: z.ZodType<Message>,
  toItem: (message: Message) => Item,
): Promise<Sorted<Item>> {
  const accepted: (Item & { index: number })[] = [];
  const rejected: Rejected[] = [];
  let refusal: AppError | undefined;
  let described = 0;
  const reject = (index: number, issues: readonly Issue[]): void => {
    described += issues.length;
    rejected.push({ index, detail: inBatch(issues, index) });
  };
  const pause = pacer();
  const sort = (item: unknown, index: number): void => {
    const parsed = schema.safeParse(item, { reportInput: true });
    if (!parsed.success) {
      if (described >= MAX_ISSUES) rejected.push({ index, detail: NOT_DESCRIBED });
      else reject(index, invalid(toIssues(parsed.error.issues, "body")).issues);
      return;
    }
    try {
      accepted.push({ ...toItem(parsed.data), index });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code !== "validation") rejected.push({ index, detail: error.message });
      else if (described >= MAX_ISSUES) rejected.push({ index, detail: NOT_DESCRIBED });
      else reject(index, error.issues);
      if (error.code === "forbidden") refusal = error;
    }
  };
  for (const [index, item] of items.entries()) {
    sort(item, index);
    await pause();
  }
  if (refusal !== undefined && accepted.length === 0) throw refusal;
  return { accepted, rejected };
}

function inBatch(issues: readonly Issue[], index: number): Issue[] {
  return issues.map((issue) => {
    const [part = "body", ...rest] = issue.loc;
    return { ...issue, loc: [part, "batch", index, ...rest] };
  });
}
