import type { UrlState } from "../state/url-state.ts";
import type { Go } from "../state/use-address.ts";

interface NothingHereProps {
  readonly project: string;
  readonly what: string;
  readonly options: UrlState["options"];
  readonly go: Go;
}

/** An empty window, and what to do next. */
export function NothingHere({ project, what, options, go }: NothingHereProps) {
  return (
    <div className="empty" role="status">
      <h2>{what}</h2>
      <p className="dim">
        <bdi>{project}</bdi>
      </p>
      <button className="main" onClick={() => go({ options: { ...options, window: "90d" } })}>
        Show last 90 days
      </button>
    </div>
  );
}
