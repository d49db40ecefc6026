import { ask, askLines } from "../api/ask.ts";
import type { Call } from "../api/routes.ts";
import { useAgainOn, useLoad } from "../api/use-load.ts";
import { LoadState } from "../parts/notice.tsx";
import { LongText } from "../parts/long-text.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { oneLine } from "../numbers/plain-text.ts";
import type { Total, UsageByLlm } from "../numbers/usage.ts";
import { CallReceipt } from "./call-receipt.tsx";
import type { TreeCall } from "./columns/call-tree.ts";
import { Facts } from "./facts.tsx";
import { FeedbackList } from "./feedback-list.tsx";

export interface UsedByCall {
  /** Including everything below. */
  readonly total: UsageByLlm;
  /** By the call alone. */
  readonly own: Total;
}

interface DetailsProps {
  readonly project: string;
  readonly traceId: string;
  readonly zone: string;
  readonly treeCall: TreeCall;
  /** Undefined: not known yet. */
  readonly used: UsedByCall | undefined;
  readonly tab: string;
  readonly onTab: (tab: string) => void;
  readonly close: () => void;
}

const TABS = {
  details: "Details",
  input: "Input",
  output: "Output",
  attributes: "Attributes",
  feedback: "Feedback",
  receipt: "Receipt",
} as const;
type Tab = keyof typeof TABS;

/** One call: its facts, inputs, output and feedback. */
export function Details({ project, traceId, zone, treeCall, used, tab, onTab, close }: DetailsProps) {
  const { id, name, endMs } = treeCall;
  const key = `${project}\n${traceId}\n${id}`;
  const shown: Tab = Object.hasOwn(TABS, tab) ? (tab as Tab) : "details";
  const load = useLoad(key, async (asking) => {
    const filter = { trace_ids: [traceId], call_ids: [id] };
    const calls: Call[] = [];
    const body = { project_id: project, filter, include_costs: true };
    await askLines({ path: "/calls/stream_query", body }, (call) => calls.push(call), asking);
    return calls[0];
  });
  useAgainOn(load, key, endMs);
  const call = load.value;
  return (
    <section
      class="details"
      aria-label={`Call ${name}`}
      aria-busy={load.busy}
      onKeyDown={(event) => event.key === "Escape" && close()}
    >
      <div class="bar">
        <h2>
          <bdi>{oneLine(name, 80)}</bdi>
        </h2>
        <Tabs tabs={TABS} shown={shown} onTab={onTab} />
        <button class="quiet" aria-label="Close the details" onClick={close}>
          ✕
        </button>
      </div>
      <div class="content" role="tabpanel" id="panel" aria-labelledby={`tab-${shown}`} tabIndex={0}>
        <LoadState load={load} />
        {shown === "details" && <Facts {...{ call, treeCall, zone, used }} />}
        {shown === "input" && call !== undefined && <Json label="input" value={call.inputs} />}
        {shown === "output" && call !== undefined && <Json label="output" value={call.output} />}
        {shown === "attributes" && call !== undefined && <Json label="attributes" value={call.attributes} />}
        {shown === "feedback" && <CallFeedback {...{ project, id, zone }} />}
        {shown === "receipt" && (
          <CallReceipt {...{ project, traceId, id, zone }} used={used && JSON.stringify(used.total)} />
        )}
      </div>
    </section>
  );
}

function Json({ label, value }: { readonly label: string; readonly value: unknown }) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  if (value == null || text === "{}") return <p class="dim">There is no {label}.</p>;
  return <LongText key={label} label={label} text={text} />;
}

function CallFeedback({
  project,
  id,
  zone,
}: {
  readonly project: string;
  readonly id: string;
  readonly zone: string;
}) {
  const load = useLoad(`${project}\n${id}`, (asking) => {
    const body = {
      project_id: project,
      query: { $expr: { $eq: [{ $getField: "weave_ref" }, { $literal: `weave:///${project}/call/${id}` }] } },
      limit: 100,
    };
    return ask({ path: "/feedback/query", body }, asking);
  });
  return (
    <div aria-busy={load.busy}>
      <LoadState load={load} />
      {load.value !== undefined && (
        <FeedbackList feedback={load.value.body.result} truncated={load.value.truncated} zone={zone} />
      )}
    </div>
  );
}
