import type { CallRow } from "../storage-key/index-call-keys.ts";
import type { RoutedEvent } from "../storage-key/resolve-keys.ts";

/**
 * The rows to write for some parts, in their order. The parts of a call that come together, such as its start and its end,
 * become one row, with what the last of them says of each column: the store would fold them into the same row. A part
 * whose call is unknown has no row.
 */
export function mergeEvents(items: readonly RoutedEvent[]): readonly CallRow[] {
  const rows: CallRow[] = [];
  const last = new Map<string, number>();
  for (const item of items) {
    const { project, event, call, traceId, hour } = item;
    if (traceId === undefined || hour === undefined) continue;
    const at = last.get(call);
    const before = at === undefined ? undefined : rows[at];
    if (before?.trace_id === traceId && before.hour === hour) {
      rows[at!] = { ...before, ...event.columns };
    } else {
      last.set(call, rows.length);
      rows.push({ project_id: project, hour, trace_id: traceId, id: event.id, ...event.columns });
    }
  }
  return rows;
}
