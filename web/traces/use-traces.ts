import { useRef } from "react";
import { postJson } from "../api/client.ts";
import { lastAnswer, useQuery, type QueryState } from "../api/use-query.ts";
import type { TraceList } from "../api/routes.ts";
import { tracesQuestion, type TracesQuestion } from "./traces-question.ts";

const FIRST = 100;
const MOST = 500;
const NEXT = 200;

export interface Traces extends QueryState<TraceList> {
  /** Reads the next page, unless it is on its way or there is none. */
  readonly more: () => void;
}

/** All pages read so far as one. Asking again asks for as many rows. */
export function useTraces(question: TracesQuestion, isAsked: boolean): Traces {
  const within = `traces ${question.project}`;
  const list = useQuery<TraceList>(
    isAsked ? JSON.stringify(question) : undefined,
    async (asking) => {
      const shown = lastAnswer<TraceList>(within)?.traces.length ?? 0;
      const limit = Math.min(MOST, Math.max(FIRST, shown));
      return (await postJson(tracesQuestion(question, { limit }), asking)).body;
    },
    within,
  );
  const { value, isOld } = list;
  const extended = useRef<TraceList | undefined>(undefined);
  const more = (): void => {
    if (value?.next_page_token == null || isOld || extended.current === value) return;
    extended.current = value;
    const next = tracesQuestion(question, { limit: NEXT, page_token: value.next_page_token });
    postJson(next, { signal: new AbortController().signal }).then(
      ({ body }) => list.replace(value, { ...body, traces: [...value.traces, ...body.traces] }),
      // scrolling asks again
      () => (extended.current = undefined),
    );
  };
  return { ...list, more };
}
