import type { CallRow } from "../storage-key/index-call-keys.ts";
import type { RoutedEvent } from "../storage-key/resolve-keys.ts";

/**
 * Converts events to rows, in order. Events of one call become one row, with the last value of each column, as ClickHouse
 * would merge them. An event of an unknown call has no row.
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
