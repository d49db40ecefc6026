import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { postJson, isAbort } from "../api/client.ts";
import { lastAnswer, useQuery, type QueryState } from "../api/use-query.ts";
import type { TraceList, TraceRow } from "../api/routes.ts";
import { tracesQuestion, type TracesQuestion } from "./traces-question.ts";

/** Totals of all matching traces. */
export type TracesTotal = NonNullable<TraceList["total"]>;

export interface Traces {
  readonly rows: readonly TraceRow[] | undefined;
  /** Undefined: not known yet. */
  readonly total: TracesTotal | undefined;
  readonly list: QueryState<TraceList>;
  readonly totals: QueryState<TracesTotal | undefined>;
  /** There are rows after the last. */
  readonly hasMore: boolean;
  readonly more: () => void;
  readonly again: () => void;
}

const FIRST = 100;
const MOST = 500;
const NEXT = 200;

/** The rows come first, and what all of them cost after them; sorted by a sum, both come at once. */
export function useTraces(question: TracesQuestion, isAsked: boolean): Traces {
  const within = `traces ${question.project}`;
  const limit = useRef(limitOnReturn(within));
  const takeLimit = (): number => {
    const taken = limit.current;
    limit.current = FIRST;
    return taken;
  };
  const isByTime = question.sort === "newest" || question.sort === "oldest";
  const key = isAsked ? JSON.stringify(question) : undefined;
  const list = useQuery<TraceList>(
    key,
    async (asking) =>
      (await postJson(tracesQuestion(question, { limit: takeLimit(), include_total: !isByTime }), asking))
        .body,
    within,
  );
  const isListed = !list.busy && list.failure === undefined;
  const totals = useQuery<TracesTotal | undefined>(
    // it looks at all traces: it begins when there are rows to look at
    isByTime && isListed ? key : undefined,
    async (asking) =>
      (await postJson(tracesQuestion(question, { limit: 1 }), asking)).body.total ?? undefined,
    `total of ${within}`,
  );
  const { rows, hasMore, more } = useMore(question, list);
  return {
    rows,
    total: isByTime ? totals.value : (list.value?.total ?? undefined),
    list,
    totals,
    hasMore,
    more,
    again: () => {
      list.refetch();
      if (isByTime) totals.refetch();
    },
  };
}

interface Pages {
  /** The answer that they follow. */
  readonly of: TraceList | undefined;
  readonly rows: readonly TraceRow[];
  readonly next: string | null;
}

/** The pages that were read last. Going back to the list shows them again, and asks for as many rows. */
let lastPages: Pages = { of: undefined, rows: [], next: null };

function limitOnReturn(within: string): number {
  const { of, rows } = lastPages;
  const count = of === undefined || of !== lastAnswer(within) ? 0 : of.traces.length + rows.length;
  return Math.min(MOST, Math.max(FIRST, count));
}

/** The pages after the first, one after the other as they are wanted. */
function useMore(question: TracesQuestion, { value }: QueryState<TraceList>) {
  const [pages, setPages] = useState(lastPages);
  lastPages = pages;
  const isLoading = useRef(false);
  const current = pages.of === value ? pages : { of: value, rows: [], next: value?.next_page_token ?? null };
  const latest = useRef({ question, current });
  latest.current = { question, current };
  const running = useRef(new AbortController());
  useEffect(
    () => () => {
      running.current.abort();
      running.current = new AbortController();
      isLoading.current = false;
    },
    [value],
  );
  const more = useCallback(() => {
    const { question, current } = latest.current;
    if (current.next === null || isLoading.current) return;
    isLoading.current = true;
    const next = tracesQuestion(question, { limit: NEXT, page_token: current.next, include_total: false });
    postJson(next, { signal: running.current.signal }).then(
      ({ body }) => {
        isLoading.current = false;
        setPages({ of: current.of, rows: [...current.rows, ...body.traces], next: body.next_page_token });
      },
      (error: unknown) => {
        // scrolling asks again
        if (!isAbort(error)) isLoading.current = false;
      },
    );
  }, []);
  return {
    rows: value && [...value.traces, ...current.rows],
    hasMore: current.next !== null,
    more,
  };
}
