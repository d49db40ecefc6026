import type { OtelSpan, SpanOrigin } from "../../src/ingest/otlp/span.ts";
import { toCallEvent } from "../../src/ingest/otlp/to-call-event.ts";

export const ORIGIN: SpanOrigin = {
  resource: new Map(),
  nestedResource: {},
  scopeName: "test",
  scopeVersion: "1",
};

export function otelSpan(
  attributes: Readonly<Record<string, unknown>> = {},
  more: Partial<OtelSpan> = {},
): OtelSpan {
  return {
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: "b7ad6b7169203331",
    parentSpanId: "",
    name: "chat",
    kind: 3,
    startedAtNanos: 1_767_225_600_000_000_000n,
    endedAtNanos: 1_767_225_601_500_000_000n,
    attributes: new Map(Object.entries(attributes)),
    events: [],
    links: [],
    status: { code: 0, message: "" },
    ...more,
  };
}

/** How columns that a span does not write are read of a call that has no other part. */
const UNSAID = {
  parent_id: "",
  start_display_name: "",
  thread_id: "",
  turn_id: "",
  svc_user_id: "",
  svc_run_id: "",
  svc_run_step: null,
  exception: "",
  completion_id: "",
};

/** The columns a span is stored as, its payloads parsed. */
export function storedSpan(
  attributes?: Readonly<Record<string, unknown>>,
  more?: Partial<OtelSpan>,
): Record<string, unknown> {
  const part = toCallEvent(otelSpan(attributes, more), ORIGIN, "a-key");
  if (typeof part === "string") throw new Error(part);
  const parse = (column: string, absent: unknown) =>
    column in part.columns ? (JSON.parse(part.columns[column] as string) as unknown) : absent;
  return {
    ...UNSAID,
    ...part.columns,
    inputs: parse("inputs", {}),
    output: parse("output", null),
    attributes: parse("attributes", {}),
    summary: parse("summary", {}),
    usage: parse("usage", []),
  };
}
