import type { CallEvent, ProjectEvent } from "../calls/events/call-event.ts";
import type { CallWriter } from "../calls/write/call-writer.ts";

/** Stores call events, in order within each project. Returns the trace id of each event. Errors: `StorageError`. */
export async function writeAccepted(
  writer: CallWriter,
  accepted: readonly ProjectEvent[],
): Promise<ReadonlyMap<CallEvent, string | undefined>> {
  const byProject = Map.groupBy(accepted, ({ project }) => project);
  const written = await Promise.all(
    [...byProject].map(async ([project, items]) => {
      const traceIds = await writer.write(
        project,
        items.map(({ event }) => event),
      );
      return items.map(({ event }, index) => [event, traceIds[index]] as const);
    }),
  );
  return new Map(written.flat());
}
