import { useQuery as useTanStackQuery, type Query } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { isAbort, type RequestOptions } from "./client.ts";
import { ApiError, passes, type Failure } from "./failure.ts";
import { failureOf, queryClient } from "./query-client.ts";

/** The state of a question. */
export interface QueryState<Value> {
  /** Value of the previous query until this one has a response, where that may stay. */
  readonly value: Value | undefined;
  readonly failure: Failure | undefined;
  /** The current question has no answer yet. */
  readonly busy: boolean;
  /** `value` answers the question before. */
  readonly isOld: boolean;
  /** When `value` came, in ms. */
  readonly cameMs: number;
  /** How much has arrived; undefined unless it takes long enough to say so. */
  readonly progress: number | undefined;
  readonly stopped: boolean;
  readonly stop: () => void;
  readonly refetch: () => void;
  /** Shows another value in place of one that is still shown. */
  replace(shown: Value, value: Value): void;
}

/**
 * Asks when `key` changes, and not while it is undefined. `show` takes a first part of the answer. What is shown stays while the
 * same query is refetched, and among all questions of one `within`.
 */
export function useQuery<Value>(
  key: string | undefined,
  load: (asking: RequestOptions, show: (part: Value) => void) => Promise<Value>,
  within?: string,
): QueryState<Value> {
  const queryKey = [within ?? "", key ?? ""];
  const counted = useRef(0);
  const query = useTanStackQuery(
    {
      queryKey,
      enabled: key !== undefined,
      queryFn: async ({ signal }) => {
        counted.current = 0;
        const show = (part: Value): void => {
          if (!signal.aborted) queryClient.setQueryData<Value>(queryKey, (known) => known ?? part);
        };
        const asking = { signal, onProgress: (count: number) => (counted.current = count) };
        return load(asking, show).catch((error: unknown) => {
          if (!(error instanceof ApiError) && !isAbort(error)) reportError(error);
          throw error;
        });
      },
      ...(within !== undefined && { placeholderData: () => lastAnswer(within) }),
    },
    queryClient,
  );
  const { failureReason, isFetching, isPlaceholderData } = query;
  const failure = failureReason === null ? undefined : failureOf(failureReason);
  // an answer to another question says nothing about one that is refused
  const isKept = !isPlaceholderData || failure === undefined || passes(failure);
  const busy = key !== undefined && isFetching && failure === undefined;
  const { refetch } = query;
  const hash = queryKey.join("\n");
  return {
    value: isKept ? query.data : undefined,
    failure,
    busy,
    isOld: isPlaceholderData,
    cameMs: isPlaceholderData ? (lastQuery(within ?? "")?.state.dataUpdatedAt ?? 0) : query.dataUpdatedAt,
    progress: useProgress(busy ? hash : undefined, counted),
    stopped: key !== undefined && query.isPending && !isFetching && failure === undefined,
    stop: () => void queryClient.cancelQueries({ queryKey, exact: true }),
    refetch: useCallback(() => void refetch(), [refetch]),
    replace: (shown, value) => {
      const state = queryClient.getQueryState<Value>(queryKey);
      if (state?.data === shown)
        queryClient.setQueryData(queryKey, value, { updatedAt: state.dataUpdatedAt });
    },
  };
}

function lastQuery(within: string): Query | undefined {
  return queryClient
    .getQueryCache()
    .findAll({ queryKey: [within], predicate: ({ state }) => state.data !== undefined })
    .toSorted((one, other) => other.state.dataUpdatedAt - one.state.dataUpdatedAt)[0];
}

/** The last answer of those among which what is shown may stay. */
export function lastAnswer<Value>(within: string): Value | undefined {
  return lastQuery(within)?.state.data as Value | undefined;
}

const BLINK_MS = 150;

/** A quick answer needs no progress; a long one reports it a few times a second. */
function useProgress(
  question: string | undefined,
  counted: { readonly current: number },
): number | undefined {
  const [progress, setProgress] = useState<number | undefined>(undefined);
  useEffect(() => {
    if (question === undefined) return;
    const timer = setInterval(() => setProgress(counted.current), BLINK_MS);
    return () => {
      clearInterval(timer);
      setProgress(undefined);
    };
  }, [question, counted]);
  return progress;
}

/** Asks again when `version`, of what this key asked for, changes. Undefined: not known yet. */
export function useRefetchOn(
  load: QueryState<unknown>,
  key: string,
  version: string | number | null | undefined,
): void {
  const seen = useRef({ key, version });
  useEffect(() => {
    const before = seen.current;
    seen.current = { key, version };
    const areKnown = before.version !== undefined && version !== undefined;
    if (before.key === key && areKnown && before.version !== version) load.refetch();
  }, [key, version]);
}
