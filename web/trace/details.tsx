import { useMemo } from "react";
import { postNdjson } from "../api/client.ts";
import type { Call } from "../api/routes.ts";
import { useRefetchOn, useQuery } from "../api/use-query.ts";
import { LoadState } from "../components/notice.tsx";
import { Tabs } from "../components/tabs.tsx";
import { oneLine } from "../format/plain-text.ts";
import { CallData } from "./call-data.tsx";
import { CallReceipt } from "./call-receipt.tsx";
import type { TreeCall } from "./tree/call-tree.ts";
import { Conversation } from "./conversation/conversation.tsx";
import { readConversation } from "./conversation/read-conversation.ts";
import { Facts, Failure } from "./facts.tsx";
import { CallFeedback } from "./call-feedback.tsx";
import type { TreeUsage } from "./tree/tree-usage.ts";

interface DetailsProps {
  readonly project: string;
  readonly traceId: string;
  readonly zone: string;
  readonly treeCall: TreeCall;
  /** Undefined: what calls used is not known yet. */
  readonly treeUsage: TreeUsage | undefined;
  readonly tab: string;
  readonly onTab: (tab: string) => void;
  /** Goes to the next call that used an LLM. */
  readonly onModel: (llm: string) => void;
  readonly close: () => void;
}

const TABS = { conversation: "Conversation", data: "Data", cost: "Cost", feedback: "Feedback" };

/** One call: its facts, inputs, output and feedback. */
export function Details(props: DetailsProps) {
  const { project, traceId, zone, treeCall, treeUsage, tab, onTab, onModel, close } = props;
  const { id, name, endMs, position } = treeCall;
  const key = `call\n${project}\n${traceId}\n${id}`;
  const load = useQuery(key, async (asking) => {
    const filter = { trace_ids: [traceId], call_ids: [id] };
    const calls: Call[] = [];
    const body = { project_id: project, filter, include_costs: true };
    await postNdjson({ path: "/calls/stream_query", body }, (call) => calls.push(call), asking);
    return calls[0] ?? null;
  });
  useRefetchOn(load, key, endMs);
  const call = load.value ?? undefined;
  const messages = useMemo(() => (call === undefined ? [] : readConversation(call)), [call]);
  const { conversation: _none, ...others } = TABS;
  const isSaid = messages.length > 0 || call === undefined;
  const tabs: Readonly<Record<string, string>> = isSaid ? TABS : others;
  const shown = Object.hasOwn(tabs, tab) ? tab : messages.length > 0 ? "conversation" : "data";
  return (
    <section
      className="details"
      aria-label={`Call ${name}`}
      aria-busy={load.busy}
      onKeyDown={(event) => event.key === "Escape" && close()}
    >
      <div className="bar">
        <h2>
          <bdi>{oneLine(name, 80)}</bdi>
        </h2>
        <Tabs tabs={tabs} shown={shown} onTab={onTab} />
        <button className="quiet" aria-label="Close the details" onClick={close}>
          ✕
        </button>
      </div>
      <div className="content" role="tabpanel" id="panel" aria-labelledby={`tab-${shown}`} tabIndex={0}>
        <LoadState load={load} />
        <Failure treeCall={treeCall} call={call} />
        {shown === "conversation" && <Conversation key={key} messages={messages} />}
        {shown === "data" && (
          <>
            <Facts {...{ call, treeCall, zone }} own={treeUsage?.own(position)} />
            {call !== undefined && <CallData key={key} call={call} />}
          </>
        )}
        {shown === "cost" && (
          <CallReceipt {...{ project, traceId, id, zone, onModel }} used={treeUsage?.total(position)} />
        )}
        {shown === "feedback" && <CallFeedback {...{ project, id, zone }} />}
      </div>
    </section>
  );
}
