import { useEffect, useState } from "preact/hooks";
import { askLines } from "../api/ask.ts";
import type { Call } from "../api/routes.ts";
import { loadUsed, type TraceRow } from "./load-rows.ts";

const REFRESH_MS = 5000;
const MAX_REFRESHED = 100;

/** Unfinished rows are refreshed; all others, and the order, stay as they are. */
export function useLiveRows(
  project: string,
  loaded: readonly TraceRow[] | undefined,
): readonly TraceRow[] | undefined {
  const [rows, setRows] = useState<ReadonlyMap<string, TraceRow>>(new Map());
  useEffect(() => {
    setRows(new Map());
    const running = new Set(
      loaded?.flatMap(({ call }) => (call.ended_at === null ? [call.id] : [])).slice(0, MAX_REFRESHED),
    );
    if (running.size === 0) return;
    const controller = new AbortController();
    const timer = setInterval(() => {
      if (document.visibilityState !== "visible" || running.size === 0) return;
      void refreshed(project, [...running], controller.signal).then(
        (fresh) => {
          for (const { call } of fresh) if (call.ended_at !== null) running.delete(call.id);
          setRows((rows) => new Map([...rows, ...fresh.map((row) => [row.call.id, row] as const)]));
        },
        // a failed refresh is repeated; the rows say when they are from
        () => undefined,
      );
    }, REFRESH_MS);
    return () => {
      clearInterval(timer);
      controller.abort();
    };
  }, [project, loaded]);
  return loaded?.map((row) => rows.get(row.call.id) ?? row);
}

async function refreshed(
  project_id: string,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly TraceRow[]> {
  const calls: Call[] = [];
  const filter = { call_ids: ids, trace_roots_only: true };
  const [, used] = await Promise.all([
    askLines(
      { path: "/calls/stream_query", body: { project_id, filter, columns: ["id"] } },
      (call) => calls.push(call),
      { signal },
    ),
    loadUsed(project_id, ids, { signal }),
  ]);
  return calls.map((call) => ({ call, total: used.get(call.id) }));
}
