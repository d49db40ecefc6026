import { useEffect } from "react";
import { get } from "../api/client.ts";
import type { Whoami } from "../api/routes.ts";
import { CopyButton } from "../components/copy-button.tsx";

interface NothingYetProps {
  readonly me: Whoami;
  /** Undefined: none is known. */
  readonly project: string | undefined;
}

const ASK_AGAIN_MS = 3000;

/** First steps for the user's project; opens the first trace when it arrives. */
export function NothingYet({ me, project = projectOf(me) }: NothingYetProps) {
  useEffect(() => {
    const controller = new AbortController();
    const timer = setInterval(() => {
      if (document.visibilityState !== "visible") return;
      get<Whoami>("/me", controller.signal).then(
        ({ projects_with_data: seen }) => seen !== null && seen.length > 0 && location.reload(),
        // it is asked again
        () => undefined,
      );
    }, ASK_AGAIN_MS);
    return () => {
      clearInterval(timer);
      controller.abort();
    };
  }, []);
  const sample = firstCall(project);
  return (
    <main className="empty">
      <h1>Nothing has been sent yet</h1>
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

function projectOf({ projects }: Whoami): string {
  return projects.find((one) => !one.includes("*")) ?? "acme/app";
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
