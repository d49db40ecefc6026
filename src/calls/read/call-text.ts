import { tokenCostFields, type CallCost, type TokenCostWire } from "../../prices/cost-fields.ts";
import type { CostOf } from "../../prices/cost-of-call.ts";
import { inUsd } from "../../prices/picodollars.ts";
import { parseInstant, toIso } from "../../shared/instant.ts";
import { stringifyJson } from "../../shared/json.ts";
import { membersOf, objectOf, type Member } from "../../shared/json-members.ts";
import type { Project } from "../../shared/project.ts";
import { countMembers } from "../../usage/count-fields.ts";
import { decodeUsage } from "../../usage/usage-column.ts";
import type { CallAndFeedback } from "./calls-with-feedback.ts";
import type { Payload, StoredCall } from "./stored-call.ts";

export interface CallTextOptions {
  readonly project: Project;
  readonly payloads: ReadonlySet<Payload>;
  /** `undefined` if `include_costs` is false. */
  readonly costOf: CostOf | undefined;
}

/** Encodes a call as the Weave SDKs read it. Payloads are copied as stored. */
export function callText({ call, feedback }: CallAndFeedback, options: CallTextOptions): string {
  const head = JSON.stringify({
    id: call.id,
    project_id: options.project,
    op_name: call.op_name,
    display_name: textOrNull(call.display_name),
    trace_id: call.trace_id,
    parent_id: textOrNull(call.parent_id),
    thread_id: textOrNull(call.thread_id),
    turn_id: textOrNull(call.turn_id),
    started_at: toIso(call.started_at),
    ended_at: call.ended_at === "" ? null : toIso(call.ended_at),
    exception: textOrNull(call.exception),
    wb_user_id: textOrNull(call.svc_user_id),
    wb_run_id: textOrNull(call.svc_run_id),
    wb_run_step: call.svc_run_step === "" ? null : Number(call.svc_run_step),
    deleted_at: null,
  });
  const summary = options.payloads.has("summary")
    ? summaryText(call, { costOf: options.costOf, feedback })
    : "{}";
  return (
    `${head.slice(0, -1)},"attributes":${call.attributes || "{}"},"inputs":${call.inputs || "{}"}` +
    `,"output":${call.output || "null"},"summary":${summary}}`
  );
}

function textOrNull(text: string): string | null {
  return text === "" ? null : text;
}

/** Encodes the summary, with computed fields added to its member `weave`. */
function summaryText(
  call: StoredCall,
  { costOf, feedback }: { readonly costOf: CostOf | undefined } & Pick<CallAndFeedback, "feedback">,
): string {
  const stored = call.summary || "{}";
  const computed = {
    status: call.status,
    latency_ms: call.latency_ms === "" ? null : Number(call.latency_ms),
    trace_name: call.trace_name,
    ...(costOf !== undefined && { costs: costsOf(call, costOf) }),
  };
  if (!stored.includes('"weave"')) {
    return withMember(stored, "weave", computedText([], computed, feedback));
  }
  const members = membersOf(stored);
  const sent = members.findLast(([key]) => key === '"weave"')?.[1] ?? "{}";
  const rest = members.filter(([key]) => key !== '"weave"');
  const isComputed = (key: string): boolean =>
    (feedback !== undefined && key === '"feedback"') || Object.hasOwn(computed, key.slice(1, -1));
  const known = sent.startsWith("{") ? membersOf(sent).filter(([key]) => !isComputed(key)) : [];
  return withMember(objectOf(rest), "weave", computedText(known, computed, feedback));
}

function computedText(
  known: readonly Member[],
  computed: object,
  feedback: CallAndFeedback["feedback"],
): string {
  const text = objectOf([...known, ...membersOf(stringifyJson(computed))]);
  return feedback === undefined ? text : withMember(text, "feedback", `[${feedback.join(",")}]`);
}

/** Appends a member with an encoded value to an encoded object. */
function withMember(object: string, name: string, value: string): string {
  return `${object.slice(0, -1)}${object === "{}" ? "" : ","}"${name}":${value}}`;
}

function costsOf(call: StoredCall, costOf: CostOf): Record<string, object> {
  const startedAtUs = parseInstant(call.started_at) ?? 0;
  return Object.fromEntries(
    decodeUsage(call.usage).map((usage) => [
      usage.llm,
      { ...countMembers(usage), ...costMembers(costOf(usage, startedAtUs)) },
    ]),
  );
}

function costMembers(cost: CallCost): Record<TokenCostWire, number | null> {
  const usd = (picodollars: number | null): number | null =>
    picodollars === null ? null : inUsd(picodollars);
  return Object.fromEntries(tokenCostFields.map(({ kind, wire }) => [wire, usd(cost[kind])])) as Record<
    TokenCostWire,
    number | null
  >;
}
