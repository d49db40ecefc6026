import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { isAbort, type Asking } from "./ask.ts";
import { AskError, type Failure } from "./failure.ts";

/** Where a question has got to. */
export interface Load<Value> {
  readonly value: Value | undefined;
  readonly failure: Failure | undefined;
  /** What is asked now has not been answered yet: `value` may be of the question before. */
  readonly busy: boolean;
  /** It takes longer than a blink. */
  readonly waiting: boolean;
  /** What has come of it. */
  readonly progress: number;
  readonly stopped: boolean;
  /** Which question, asked which time, `value` and `failure` are the answer to. */
  readonly settled: string | undefined;
  readonly stop: () => void;
  readonly again: () => void;
}

type State<Value> = Omit<Load<Value>, "busy" | "stop" | "again">;

const BLINK_MS = 150;
const LEFT = "left";
const idle = {
  value: undefined,
  failure: undefined,
  waiting: false,
  progress: 0,
  stopped: false,
  settled: undefined,
};

/** Asks when `key` changes; undefined: not at all. What was asked before is let go. `show`: takes a part of the answer, where there is none yet. */
export function useLoad<Value>(
  key: string | undefined,
  load: (asking: Asking, show: (part: Value) => void) => Promise<Value>,
): Load<Value> {
  const [state, setState] = useState<State<Value>>(idle);
  const [round, setRound] = useState(0);
  const running = useRef<AbortController | undefined>(undefined);
  const latest = useRef(load);
  latest.current = load;
  const shownKey = useRef<string | undefined>(undefined);
  const asked = `${round}\n${key ?? ""}`;
  useEffect(() => {
    if (key === undefined) return;
    const controller = new AbortController();
    running.current = controller;
    const { signal } = controller;
    let counted = 0;
    // what is asked again stays until the new answer is there
    const kept = (state: State<Value>) => (shownKey.current === key ? state.value : undefined);
    // nothing is drawn for what is there in a blink; a long answer is told of a few times a second
    const timer = setInterval(
      () => setState((state) => ({ ...idle, value: kept(state), waiting: true, progress: counted })),
      BLINK_MS,
    );
    const settle = (next: Partial<State<Value>>): void => {
      clearInterval(timer);
      setState((state) => ({ ...idle, value: kept(state), ...next, settled: asked }));
      shownKey.current = key;
    };
    const show = (value: Value): void => {
      if (signal.aborted) return;
      const isNew = shownKey.current !== key;
      setState((state) => (isNew || state.value === undefined ? { ...state, value } : state));
      shownKey.current = key;
    };
    latest.current({ signal, onProgress: (count) => (counted = count) }, show).then(
      (value) => !signal.aborted && settle({ value }),
      (error: unknown) => {
        if (signal.reason === LEFT) return;
        if (signal.aborted || isAbort(error)) settle({ stopped: true });
        else settle({ failure: error instanceof AskError ? error.failure : bugOf(error) });
      },
    );
    return () => {
      clearInterval(timer);
      controller.abort(LEFT);
    };
  }, [key, round]);
  const stop = useCallback(() => running.current?.abort("stopped"), []);
  const again = useCallback(() => setRound((count) => count + 1), []);
  return { ...state, busy: key !== undefined && state.settled !== asked, stop, again };
}

/** Asks once more when something else shows that what was asked with this key is not as it was; undefined: it is not known yet. */
export function useAgainOn(
  load: Load<unknown>,
  key: string,
  version: string | number | null | undefined,
): void {
  const seen = useRef({ key, version });
  useEffect(() => {
    const before = seen.current;
    seen.current = { key, version };
    if (before.key === key && before.version !== undefined && before.version !== version) load.again();
  }, [key, version]);
}

function bugOf(error: unknown): Failure {
  reportError(error);
  return { kind: "broken" };
}
