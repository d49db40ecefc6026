import type { CallPart } from "../calls/call-part.ts";
import type { CallWriter } from "../calls/call-writer.ts";
import type { Project } from "../shared/project.ts";

export interface Accepted {
  readonly project: Project;
  readonly part: CallPart;
}

/** Stores what was accepted, project by project, in the order it came. Returns the traces of the parts. */
export async function writeAccepted(
  writer: CallWriter,
  accepted: readonly Accepted[],
): Promise<ReadonlyMap<CallPart, string | undefined>> {
  const byProject = Map.groupBy(accepted, ({ project }) => project);
  const written = await Promise.all(
    [...byProject].map(async ([project, items]) => {
      const traceIds = await writer.write(
        project,
        items.map(({ part }) => part),
      );
      return items.map(({ part }, index) => [part, traceIds[index]] as const);
    }),
  );
  return new Map(written.flat());
}
