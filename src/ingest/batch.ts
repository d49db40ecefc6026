import type { CallPart, ProjectPart } from "../calls/parts/call-part.ts";
import type { CallWriter } from "../calls/write/call-writer.ts";

/** Stores the accepted parts of each project in their order. Returns the traces of the parts. */
export async function writeAccepted(
  writer: CallWriter,
  accepted: readonly ProjectPart[],
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
