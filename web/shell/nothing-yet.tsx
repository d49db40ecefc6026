import { useEffect } from "react";
import { CopyButton } from "../components/copy-button.tsx";

interface NothingYetProps {
  readonly project: string;
  /** Asks again what the key may see. */
  readonly refetch: () => void;
}

const ASK_AGAIN_MS = 3000;

/** First steps for the user's project, until something is there. */
export function NothingYet({ project, refetch }: NothingYetProps) {
  useEffect(() => {
    refetch();
    const timer = setInterval(() => document.visibilityState === "visible" && refetch(), ASK_AGAIN_MS);
    return () => clearInterval(timer);
  }, [refetch]);
  const sample = firstCall(project);
  return (
    <main className="empty">
      <h1>Nothing has been sent yet</h1>
      <p className="dim">
        <bdi>{project}</bdi>
      </p>
      <p>
        Point an SDK at <code>{new URL(".", document.baseURI).href}</code>, or send a first call by hand, with
        a key that may ingest:
      </p>
      <pre tabIndex={0}>{sample}</pre>
      <div className="tools">
        <CopyButton label="Copy" text={() => sample} />
        <a href="./docs">API reference</a>
      </div>
      <p className="dim">This page waits for it.</p>
    </main>
  );
}

function firstCall(project: string): string {
  const now = new Date().toISOString();
  const call = {
    project_id: project,
    id: "call-1",
    trace_id: "trace-1",
    op_name: "chat",
    started_at: now,
    ended_at: now,
    attributes: {},
    inputs: {},
    summary: { usage: { "gpt-4o": { requests: 1, prompt_tokens: 1200, completion_tokens: 300 } } },
  };
  const url = new URL(`v2/${project}/calls/complete`, document.baseURI).href;
  return `curl -u "api:$KEY" -H content-type:application/json ${url} -d '${JSON.stringify({ batch: [call] })}'`;
}
