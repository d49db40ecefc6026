import { useCallback, useEffect, useRef, useState } from "react";
import { isAbort, type RequestOptions } from "./client.ts";
import { ApiError, passes, type Failure } from "./failure.ts";

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
  /** It takes long enough to say so. */
  readonly waiting: boolean;
  /** How much has arrived. */
  readonly progress: number;
  readonly stopped: boolean;
  /** The question and round that `value` and `failure` belong to. */
  readonly answered: string | undefined;
  readonly stop: () => void;
  readonly refetch: () => void;
  /** Shows another value in place of one that is still shown. */
  replace(shown: Value, value: Value): void;
}

interface State<Value> extends Omit<QueryState<Value>, "busy" | "isOld" | "stop" | "refetch" | "replace"> {
  /** The question that `value` answers, and among which others it may stay. */
  readonly shownKey: string | undefined;
  readonly shownWithin: string | undefined;
}

/** The last answers, by what may stay while the same view asks anew: going back shows them at once. */
const lastAnswers = new Map<string, Pick<State<unknown>, "value" | "cameMs" | "shownKey" | "shownWithin">>();

/** Drops cached values, which belong to the previous key. */
export function forgetAnswers(): void {
  lastAnswers.clear();
}

/** The last answer of those among which what is shown may stay. */
export function lastAnswer<Value>(within: string): Value | undefined {
  return lastAnswers.get(within)?.value as Value | undefined;
}

const BLINK_MS = 150;
const LEFT = "left";
/** Between tries to reach a service that is away. */
const RETRIES_MS = [4000, 8000, 15_000, 30_000];
const idle = {
  failure: undefined,
  waiting: false,
  progress: 0,
  stopped: false,
  answered: undefined,
};
const nothing = { ...idle, value: undefined, cameMs: 0, shownKey: undefined, shownWithin: undefined };

/**
 * Asks when `key` changes, and not while it is undefined. The question before is aborted. `show` takes a first part of the answer.
 * What is shown stays while the same query is refetched, and among all questions of one `within`. A failure that passes is
 * tried again by itself.
 */
export function useQuery<Value>(
  key: string | undefined,
  load: (asking: RequestOptions, show: (part: Value) => void) => Promise<Value>,
  within?: string,
): QueryState<Value> {
  const [state, setState] = useState<State<Value>>(() => ({
    ...nothing,
    ...(within !== undefined && (lastAnswers.get(within) as Partial<State<Value>> | undefined)),
  }));
  const [round, setRound] = useState(0);
  const running = useRef<AbortController | undefined>(undefined);
  const latest = useRef(load);
  latest.current = load;
  const asked = `${round}\n${key ?? ""}`;
  useEffect(() => {
    if (key === undefined) return;
    const controller = new AbortController();
    running.current = controller;
    const { signal } = controller;
    let counted = 0;
    const mayStay = (state: State<Value>): boolean =>
      state.shownKey === key || (within !== undefined && state.shownWithin === within);
    const kept = (state: State<Value>): State<Value> => (mayStay(state) ? { ...state, ...idle } : nothing);
    const come = (value: Value) => {
      const came = { value, cameMs: Date.now(), shownKey: key, shownWithin: within };
      if (within !== undefined) lastAnswers.set(within, came);
      return came;
    };
    // a quick answer needs no progress; a long one reports it a few times a second
    const timer = setInterval(
      () => setState((state) => ({ ...kept(state), waiting: true, progress: counted })),
      BLINK_MS,
    );
    const answer = (next: (state: State<Value>) => Partial<State<Value>>): void => {
      clearInterval(timer);
      setState((state) => ({ ...kept(state), ...next(state), answered: asked }));
    };
    const show = (value: Value): void => {
      if (signal.aborted) return;
      setState((state) =>
        state.shownKey !== key || state.value === undefined ? { ...state, ...come(value) } : state,
      );
    };
    latest.current({ signal, onProgress: (count) => (counted = count) }, show).then(
      (value) => !signal.aborted && answer(() => come(value)),
      (error: unknown) => {
        if (signal.reason === LEFT) return;
        if (signal.aborted || isAbort(error)) return answer(() => ({ stopped: true }));
        const failure = error instanceof ApiError ? error.failure : bugOf(error);
        // an answer to another question says nothing about one that is refused
        answer((state) =>
          passes(failure) || state.shownKey === key ? { failure } : { ...nothing, failure },
        );
      },
    );
    return () => {
      clearInterval(timer);
      controller.abort(LEFT);
    };
  }, [key, within, round]);
  const stop = useCallback(() => running.current?.abort("stopped"), []);
  const refetch = useCallback(() => setRound((count) => count + 1), []);
  const replace = useCallback(
    (shown: Value, value: Value) => {
      const last = within === undefined ? undefined : lastAnswers.get(within);
      if (last?.value === shown) lastAnswers.set(within!, { ...last, value });
      setState((state) => (state.value === shown ? { ...state, value } : state));
    },
    [within],
  );
  useRetries(state.failure, state.answered === asked, refetch);
  const isShown = state.shownKey === key || (within !== undefined && state.shownWithin === within);
  return {
    ...state,
    value: isShown ? state.value : undefined,
    isOld: state.shownKey !== key,
    busy: key !== undefined && state.answered !== asked,
    stop,
    refetch,
    replace,
  };
}

/** Tries again while the page can be seen. */
function useRetries(failure: Failure | undefined, isAnswered: boolean, refetch: () => void): void {
  const tries = useRef(0);
  useEffect(() => {
    if (!isAnswered) return;
    if (failure === undefined || !passes(failure)) {
      tries.current = 0;
      return;
    }
    const timer = setTimeout(
      function retry() {
        if (document.visibilityState === "visible") refetch();
        else addEventListener("visibilitychange", retry, { once: true });
      },
      RETRIES_MS[Math.min(tries.current++, RETRIES_MS.length - 1)],
    );
    return () => clearTimeout(timer);
  }, [failure, isAnswered, refetch]);
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
    if (before.key === key && before.version !== undefined && before.version !== version) load.refetch();
  }, [key, version]);
}

function bugOf(error: unknown): Failure {
  reportError(error);
  return { kind: "broken" };
}
