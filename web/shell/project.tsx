import type { Whoami } from "../api/routes.ts";
import { isZone } from "../numbers/instants.ts";
import { Notice } from "../parts/notice.tsx";
import { useAddress } from "../state/use-address.ts";
import { lazy } from "./lazy.tsx";
import { prepareWorker } from "../trace/load/start-worker.ts";
import { TraceView } from "../trace/view.tsx";
import { TracesView } from "../traces/view.tsx";
import { Header } from "./header.tsx";

const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The view and project that the address names. */
export function Project({ me, forget }: { readonly me: Whoami; readonly forget: () => void }) {
  const [address, go] = useAddress();
  const seen = me.projects_with_data;
  const project = address.project ?? seen?.[0];
  const chosen = address.options["zone"];
  const zone = chosen !== undefined && isZone(chosen) ? chosen : HERE;
  return (
    <>
      <Header {...{ me, project, address, zone, go, forget }} />
      {seen === null && (
        <main>
          <h1 class="unseen">Nothing to see</h1>
          <Notice
            kind="warning"
            title={`The key “${me.name}” may not read: its scopes are ${me.scopes.join(", ")}.`}
          >
            Use one with the scope <code>read</code>.
          </Notice>
        </main>
      )}
      {seen !== null && project === undefined && <NothingYet />}
      {seen !== null && project !== undefined && (
        <View {...{ project, address: { ...address, project }, zone, go }} />
      )}
    </>
  );
}

const FeedbackView = lazy(() => import("../feedback/view.tsx").then((room) => room.FeedbackView));
const UsageView = lazy(() => import("../usage/view.tsx").then((room) => room.UsageView));

interface ViewProps extends Omit<Parameters<typeof TraceView>[0], "traceId"> {}

function View(props: ViewProps) {
  const { view, traceId, project } = props.address;
  if (view === "trace" && traceId !== undefined)
    return <TraceView key={`${project ?? ""}\n${traceId}`} {...props} traceId={traceId} />;
  if (view === "usage") return <UsageView {...props} />;
  if (view === "feedback") return <FeedbackView {...props} />;
  return <TracesView {...props} onShown={prepareWorker} />;
}

function NothingYet() {
  const sample = `curl -u "api:$KEY" -H content-type:application/json ${new URL("v2/acme/app/calls/complete", document.baseURI).href} -d '{"batch": [{"project_id": "acme/app", "id": "call-1", "trace_id": "trace-1", "op_name": "chat", "started_at": "${new Date().toISOString()}", "ended_at": "${new Date().toISOString()}", "attributes": {}, "inputs": {}, "summary": {"usage": {"gpt-4o": {"requests": 1, "prompt_tokens": 1200, "completion_tokens": 300}}}}]}'`;
  return (
    <main>
      <h1 class="unseen">Nothing to see yet</h1>
      <Notice kind="quiet" title="Nothing has been sent yet that this key may see.">
        <p>Point an SDK at this address, or send a first call by hand with a key that may ingest:</p>
        <pre tabIndex={0}>{sample}</pre>
        <a href="./docs">The interface</a>
      </Notice>
    </main>
  );
}
