import type { ReactNode } from "react";
import { passes, type Failure } from "../api/failure.ts";
import type { QueryState } from "../api/use-query.ts";
import { formatCount } from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";

interface NoticeProps {
  readonly kind: "quiet" | "warning" | "error";
  readonly title: string;
  readonly children?: ReactNode;
}

/** A message, and what to do. */
export function Notice({ kind, title, children }: NoticeProps) {
  return (
    <div className={`notice ${kind}`} role={kind === "error" ? "alert" : "status"}>
      <strong>{title}</strong>
      {children !== undefined && <div>{children}</div>}
    </div>
  );
}

interface LoadStateProps {
  readonly load: QueryState<unknown>;
  /** Unit of `progress`. */
  readonly counting?: string;
  /** A note on what is still shown beside a failure. */
  readonly shown?: string;
}

/** The progress or failure of a question, with a button to ask again. What is shown stays under a thin bar. */
export function LoadState({ load, counting, shown = "" }: LoadStateProps) {
  const { failure, stopped, progress, value, cameMs, stop, refetch: again } = load;
  if (failure !== undefined && value !== undefined && passes(failure)) {
    return (
      <div className="stale" role="status">
        <strong>Not updated since {timeOf(cameMs)}</strong>
        <span>
          {reasonOf(failure)} {shown}
        </span>
        <button onClick={again}>Retry</button>
      </div>
    );
  }
  if (failure !== undefined) return <Failed failure={failure} again={again} shown={shown} />;
  if (stopped) {
    return (
      <Notice kind="quiet" title="Stopped.">
        <button onClick={again}>Retry</button>
      </Notice>
    );
  }
  if (progress === undefined || value !== undefined) return null;
  return (
    <Notice
      kind="quiet"
      title={progress > 0 ? `${formatCount(progress).text} ${counting ?? "read"} …` : "Loading…"}
    >
      <button onClick={stop}>Stop</button>
    </Notice>
  );
}

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

function timeOf(ms: number): string {
  return clock.format(new Date(ms));
}

function reasonOf(failure: Failure): string {
  if (failure.kind === "unreachable") return "Service unreachable.";
  if (failure.kind === "broken") return "Response interrupted.";
  return failure.status === 503 ? "Store unreachable." : `${failure.status}: ${oneLine(failure.text)}`;
}

const HELP: Readonly<Record<number, string>> = {
  401: "The key is not valid, or no longer. Paste another one.",
  403: "Ask whoever runs the service for a key that may read this project.",
  413: "Ask for less: a shorter window, or a narrower filter.",
  429: "Too many questions at a time. Wait a moment.",
  503: "Store unreachable. Nothing is lost; retry in a moment.",
  504: "Ask for less: a shorter window, or a narrower filter.",
};

interface FailedProps {
  readonly failure: Failure;
  readonly again: () => void;
  readonly shown: string;
}

function Failed({ failure, again, shown }: FailedProps) {
  const retry = <button onClick={again}>Retry</button>;
  if (failure.kind === "unreachable") {
    return (
      <Notice kind="error" title="Service unreachable.">
        It may be restarting, or the network is away. {shown} {retry}
      </Notice>
    );
  }
  if (failure.kind === "broken") {
    return (
      <Notice kind="error" title="Response interrupted.">
        The service or the network failed while it was on its way. {shown} {retry}
      </Notice>
    );
  }
  return (
    <Notice kind="error" title={`${failure.status}: ${oneLine(failure.text)}`}>
      {failure.faults.length > 0 && (
        <ul>
          {failure.faults.map(({ path, msg }) => (
            <li key={path + msg}>
              <code>{oneLine(path)}</code> {oneLine(msg)}
            </li>
          ))}
        </ul>
      )}
      {HELP[failure.status]}
      {failure.status >= 500 && failure.requestId !== null && ` Request ${failure.requestId}.`}
      {shown} {retry}
    </Notice>
  );
}
