import { useEffect, useRef, useState } from "react";
import { postJson } from "../api/client.ts";
import type { TraceList } from "../api/routes.ts";
import type { QueryState } from "../api/use-query.ts";
import { tracesQuestion, type TracesQuestion } from "./traces-question.ts";

const REFRESH_MS = 5000;
const MAX_REFRESHED = 100;

/** Asks every few seconds for the newest traces, some of which may run, and the total. Undefined: not yet. */
export function useLive(
  question: TracesQuestion,
  { cameMs, isOld }: QueryState<TraceList>,
  isLive: boolean,
): TraceList | undefined {
  const [newest, setNewest] = useState<{ readonly cameMs: number; readonly list: TraceList } | undefined>();
  const latest = useRef(question);
  latest.current = question;
  useEffect(() => {
    if (!isLive || isOld) return;
    const controller = new AbortController();
    const look = async (): Promise<void> => {
      const asked = tracesQuestion({ ...latest.current, sort: "newest" }, { limit: MAX_REFRESHED });
      setNewest({ cameMs, list: (await postJson(asked, controller)).body });
    };
    const timer = setInterval(() => {
      // a look that failed is repeated; the rows say when they are from
      if (document.visibilityState === "visible") look().catch(() => undefined);
    }, REFRESH_MS);
    return () => {
      clearInterval(timer);
      controller.abort();
    };
  }, [cameMs, isOld, isLive]);
  return newest?.cameMs === cameMs ? newest.list : undefined;
}
