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
}

/** The progress or failure of a question, with a button to ask again. What is shown stays under a thin bar. */
export function LoadState({ load, counting = "read" }: LoadStateProps) {
  const { failure, stopped, progress, value, cameMs, stop, refetch } = load;
  const retry = <button onClick={refetch}>Retry</button>;
  if (failure !== undefined && value !== undefined && passes(failure)) {
    return (
      <div className="stale" role="status">
        <strong>Not updated since {clock.format(new Date(cameMs))}</strong>
        <span>{titleOf(failure)}</span>
        {retry}
      </div>
    );
  }
  if (failure !== undefined) {
    const refused = failure.kind === "refused" ? failure : undefined;
    return (
      <Notice kind="error" title={titleOf(failure)}>
        {refused !== undefined && refused.faults.length > 0 && (
          <ul>
            {refused.faults.map(({ path, msg }) => (
              <li key={path + msg}>
                <code>{oneLine(path)}</code> {oneLine(msg)}
              </li>
            ))}
          </ul>
        )}
        {HELP[refused?.status ?? failure.kind]}{" "}
        {refused !== undefined &&
          refused.status >= 500 &&
          refused.requestId !== null &&
          `Request ${refused.requestId}. `}
        {retry}
      </Notice>
    );
  }
  if (stopped) {
    return (
      <Notice kind="quiet" title="Stopped.">
        {retry}
      </Notice>
    );
  }
  if (progress === undefined || value !== undefined) return null;
  const title = progress > 0 ? `${formatCount(progress).text} ${counting} …` : "Loading…";
  return (
    <Notice kind="quiet" title={title}>
      <button onClick={stop}>Stop</button>
    </Notice>
  );
}

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

const TITLES = { unreachable: "Service unreachable.", broken: "Response interrupted." } as const;

function titleOf(failure: Failure): string {
  if (failure.kind !== "refused") return TITLES[failure.kind];
  return `${failure.status}: ${oneLine(failure.text)}`;
}

const HELP: Readonly<Record<string, string>> = {
  unreachable: "It may be restarting, or the network is away.",
  broken: "The service or the network failed while it was on its way.",
  401: "The key is not valid, or no longer. Paste another one.",
  403: "Ask whoever runs the service for a key that may read this project.",
  413: "Ask for less: a shorter window, or a narrower filter.",
  429: "Too many questions at a time. Wait a moment.",
  503: "Store unreachable. Nothing is lost; retry in a moment.",
  504: "Ask for less: a shorter window, or a narrower filter.",
};
