import type { ReactNode } from "react";
import type { Call } from "../api/routes.ts";
import { formatCount } from "../format/figure.ts";
import { fullInstant } from "../format/instants.ts";
import { oneLine, visible } from "../format/plain-text.ts";
import type { Total } from "../format/usage.ts";
import { CopyButton } from "../components/copy-button.tsx";
import { Dollars, Duration, FormattedValue } from "../components/figure.tsx";
import type { TreeCall } from "./tree/call-tree.ts";

interface FailureProps {
  /** Undefined: still being loaded. */
  readonly call: Call | undefined;
  readonly treeCall: TreeCall;
}

/** Why a call failed. */
export function Failure({ call, treeCall: { exception } }: FailureProps) {
  if (exception === null) return null;
  return (
    <div className="exception">
      <strong className="failed">✕ failed</strong>
      <pre dir="auto" tabIndex={0} aria-label="exception">
        {visible((call?.exception ?? exception).slice(0, 20_000))}
      </pre>
    </div>
  );
}

interface FactsProps extends FailureProps {
  readonly zone: string;
  /** Own usage that the call adds to the trace; undefined until loaded. */
  readonly own: Total | undefined;
}

export function Facts({ call, treeCall, zone, own }: FactsProps) {
  const { id, startMs, endMs } = treeCall;
  return (
    <dl>
      {own !== undefined && (
        <Fact name="own usage">
          <FormattedValue figure={formatCount(own.tokens)} /> tokens · <Dollars total={own} />
        </Fact>
      )}
      <Fact name="started">{fullInstant(new Date(startMs).toISOString(), zone)}</Fact>
      <Fact name="duration">
        <Duration ms={endMs === null ? null : endMs - startMs} />
      </Fact>
      <Fact name="descendants">
        <FormattedValue figure={formatCount(treeCall.calls - 1)} />
      </Fact>
      <Text name="operation" text={call?.op_name} />
      <Text name="user" text={call?.wb_user_id} />
      <Text name="thread" text={call?.thread_id} />
      <Text name="turn" text={call?.turn_id} />
      <Text name="run" text={call?.wb_run_id} />
      <Fact name="id">
        <bdi>{oneLine(id)}</bdi> <CopyButton label="copy" text={() => id} />
      </Fact>
    </dl>
  );
}

function Text({ name, text }: { readonly name: string; readonly text: string | null | undefined }) {
  if (text == null || text === "") return null;
  return (
    <Fact name={name}>
      <bdi>{oneLine(text)}</bdi>
    </Fact>
  );
}

export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt dir="auto">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
