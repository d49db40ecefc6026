import type { z } from "zod";
import type { CallPart } from "../calls/call-part.ts";
import type { CallWriter } from "../calls/call-writer.ts";
import { toFaults } from "../http/zod-faults.ts";
import { AppError, type Fault } from "../shared/errors.ts";
import type { Project } from "../shared/project.ts";

/** An item that was set aside, and why. The others of its batch are stored. */
export interface Rejected {
  readonly index: number;
  readonly detail: string | readonly Fault[];
}

export interface Accepted {
  readonly index: number;
  readonly project: Project;
  readonly part: CallPart;
}

export interface Sorted {
  readonly accepted: readonly Accepted[];
  readonly rejected: readonly Rejected[];
}

/**
 * Checks the items of a batch one by one. Errors: forbidden, when that is what is wrong with all of them: the
 * client has the wrong key, which it should hear.
 */
export function sortBatch<Message>(
  items: readonly unknown[],
  schema: z.ZodType<Message>,
  toPart: (message: Message) => { project: Project; part: CallPart },
): Sorted {
  const accepted: Accepted[] = [];
  const rejected: Rejected[] = [];
  let refusal: AppError | undefined;
  items.forEach((item, index) => {
    const parsed = schema.safeParse(item, { reportInput: true });
    if (!parsed.success) {
      rejected.push({
        index,
        detail: toFaults(parsed.error.issues, "body").map((fault) => inBatch(fault, index)),
      });
      return;
    }
    try {
      accepted.push({ index, ...toPart(parsed.data) });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      rejected.push({ index, detail: error.code === "validation" ? error.faults : error.message });
      if (error.code === "forbidden") refusal = error;
    }
  });
  if (refusal !== undefined && accepted.length === 0) throw refusal;
  return { accepted, rejected };
}

function inBatch(fault: Fault, index: number): Fault {
  const [part = "body", ...rest] = fault.loc;
  return { ...fault, loc: [part, "batch", index, ...rest] };
}

/** Stores what was accepted, project by project, in the order it came. */
export async function writeAccepted(writer: CallWriter, accepted: readonly Accepted[]): Promise<void> {
  const byProject = new Map<Project, CallPart[]>();
  for (const { project, part } of accepted) {
    const parts = byProject.get(project);
    if (parts === undefined) byProject.set(project, [part]);
    else parts.push(part);
  }
  await Promise.all([...byProject].map(([project, parts]) => writer.write(project, parts)));
}
