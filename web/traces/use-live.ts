import { useEffect, useRef, useState } from "preact/hooks";
import { postJson } from "../api/client.ts";
import type { TraceRow } from "../api/routes.ts";
import { tracesQuestion, type TracesQuestion } from "./traces-question.ts";

const REFRESH_MS = 5000;
const MAX_REFRESHED = 100;

interface LiveRows {
  /** With what running traces have come to since. The order stays as it is. */
  readonly rows: readonly TraceRow[] | undefined;
  /** How many came since. */
  readonly newer: number;
}

/** Every few seconds: what runs, as it is now, and how many traces are newer than the first row. */
export function useLive(
  question: TracesQuestion,
  loaded: readonly TraceRow[] | undefined,
  isLive: boolean,
): LiveRows {
  const [fresh, setFresh] = useState<ReadonlyMap<string, TraceRow>>(new Map());
  const [newer, setNewer] = useState(0);
  const latest = useRef({ question, loaded });
  latest.current = { question, loaded };
  const first = loaded?.[0]?.trace_id;
  const count = loaded?.length;
  useEffect(() => {
    setNewer(0);
    const controller = new AbortController();
    const { signal } = controller;
    const running = new Set(
      latest.current.loaded
        ?.filter(({ unfinished }) => unfinished > 0)
        .map(({ trace_id }) => trace_id)
        .slice(0, MAX_REFRESHED),
    );
    const look = async (): Promise<void> => {
      const { question, loaded } = latest.current;
      if (running.size > 0) {
        const { body } = tracesQuestion(question, { limit: MAX_REFRESHED, include_total: false });
        const { any: _any, totals: _totals, query: _query, ...kept } = body;
        const answer = await postJson(
          { path: "/trace/query", body: { ...kept, filter: { trace_ids: [...running] } } },
          { signal },
        );
        for (const { trace_id, unfinished } of answer.body.traces)
          if (unfinished === 0) running.delete(trace_id);
        setFresh(
          (known) => new Map([...known, ...answer.body.traces.map((row) => [row.trace_id, row] as const)]),
        );
      }
      if (isLive && question.window.toMs === undefined) {
        const next = tracesQuestion({ ...question, sort: "newest" }, { limit: 100, include_total: false });
        const { body } = await postJson(next, { signal });
        const known = new Set(loaded?.map(({ trace_id }) => trace_id));
        setNewer(body.traces.filter(({ trace_id }) => !known.has(trace_id)).length);
      }
    };
    const timer = setInterval(() => {
      // a look that failed is repeated; the rows say when they are from
      if (document.visibilityState === "visible") look().catch(() => undefined);
    }, REFRESH_MS);
    return () => {
      clearInterval(timer);
      controller.abort();
    };
  }, [question.project, first, count, isLive]);
  return { rows: loaded?.map((row) => fresh.get(row.trace_id) ?? row), newer };
}
