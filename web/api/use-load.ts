import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { isAbort, type Asking } from "./ask.ts";
import { AskError, type Failure } from "./failure.ts";

/** The state of a question. */
export interface Load<Value> {
  readonly value: Value | undefined;
  readonly failure: Failure | undefined;
  /** The current question has no answer yet: `value` may be of the one before. */
  readonly busy: boolean;
  /** It takes long enough to say so. */
  readonly waiting: boolean;
  /** How much has arrived. */
  readonly progress: number;
  readonly stopped: boolean;
  /** The question and round that `value` and `failure` belong to. */
  readonly answered: string | undefined;
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
  answered: undefined,
};

/** Asks when `key` changes, and not while it is undefined. The question before is aborted. `show` takes a first part of the answer. */
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
    // the old answer to the same question stays until the new one arrives
    const kept = (state: State<Value>) => (shownKey.current === key ? state.value : undefined);
    // a quick answer needs no progress; a long one reports it a few times a second
    const timer = setInterval(
      () => setState((state) => ({ ...idle, value: kept(state), waiting: true, progress: counted })),
      BLINK_MS,
    );
    const answer = (next: Partial<State<Value>>): void => {
      clearInterval(timer);
      setState((state) => ({ ...idle, value: kept(state), ...next, answered: asked }));
      shownKey.current = key;
    };
    const show = (value: Value): void => {
      if (signal.aborted) return;
      const isNew = shownKey.current !== key;
      setState((state) => (isNew || state.value === undefined ? { ...state, value } : state));
      shownKey.current = key;
    };
    latest.current({ signal, onProgress: (count) => (counted = count) }, show).then(
      (value) => !signal.aborted && answer({ value }),
      (error: unknown) => {
        if (signal.reason === LEFT) return;
        if (signal.aborted || isAbort(error)) answer({ stopped: true });
        else answer({ failure: error instanceof AskError ? error.failure : bugOf(error) });
      },
    );
    return () => {
      clearInterval(timer);
      controller.abort(LEFT);
    };
  }, [key, round]);
  const stop = useCallback(() => running.current?.abort("stopped"), []);
  const again = useCallback(() => setRound((count) => count + 1), []);
  return { ...state, busy: key !== undefined && state.answered !== asked, stop, again };
}

/** Asks again when `version`, of what this key asked for, changes. Undefined: not known yet. */
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
