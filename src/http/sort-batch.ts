import type { z } from "zod";
import { AppError, type Fault } from "../shared/errors.ts";
import { toFaults } from "./zod-faults.ts";

/** An item that was set aside, and why. The others of its batch are stored. */
export interface Rejected {
  readonly index: number;
  readonly detail: string | readonly Fault[];
}

export interface Sorted<Item> {
  readonly accepted: readonly (Item & { readonly index: number })[];
  readonly rejected: readonly Rejected[];
}

/**
 * Checks the items of a batch one by one. Errors: forbidden, when that is what is wrong with all of them: the
 * client has the wrong key, which it should hear.
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
      rejected.push({ index, detail: inBatch(toFaults(parsed.error.issues, "body"), index) });
      return;
    }
    try {
      accepted.push({ ...toItem(parsed.data), index });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const isFault = error.code === "validation";
      rejected.push({ index, detail: isFault ? inBatch(error.faults, index) : error.message });
      if (error.code === "forbidden") refusal = error;
    }
  });
  if (refusal !== undefined && accepted.length === 0) throw refusal;
  return { accepted, rejected };
}

function inBatch(faults: readonly Fault[], index: number): Fault[] {
  return faults.map((fault) => {
    const [part = "body", ...rest] = fault.loc;
    return { ...fault, loc: [part, "batch", index, ...rest] };
  });
}
