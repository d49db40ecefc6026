import { completeEvent, endEvent, type CallEvent } from "../../calls/events/call-event.ts";
import { columnsOf, startMembers } from "../../calls/events/message-columns.ts";
import { keyText, type StorageKeyLookup } from "../../calls/storage-key/key-lookup.ts";
import type { NamedCalls } from "../../calls/storage-key/named-calls.ts";
import type { CallWriter } from "../../calls/write/call-writer.ts";
import { runAsTenant, tenantFor } from "../../fairness/tenant.ts";
import { hourOf } from "../../shared/instant.ts";
import { isJsonObject, parseJson } from "../../shared/json.ts";
import type { Project } from "../../shared/project.ts";
import type { RecordedCompletion, ResponseOfCall } from "./recorded-completion.ts";
import { reportsOf } from "./reports-of.ts";
import type { CompletionStore } from "./recorder.ts";
import { responseKeyName, type ResponseMakers } from "./response-index.ts";

/** Creates a completion store that writes calls like every other client. */
export function completionStore(
  writer: CallWriter,
  lookup: StorageKeyLookup,
  named: NamedCalls,
): CompletionStore & ResponseMakers {
  return {
    async write(project, completion) {
      const tenant = tenantFor(project, completion.apiKey);
      const event = await eventOf(project, completion, named);
      if (event !== undefined) await runAsTenant(tenant, () => writer.write(project, [event]));
    },
    async findStored(calls) {
      const keys = calls.map(({ project, callId }) => ({ project, id: callId }));
      const found = await lookup.find(keys);
      return new Set(keys.filter((key) => found.has(keyText(key))).map(({ id }) => id));
    },
    async findMaker(projects, id, upstreams) {
      const upstreamByName = new Map(upstreams.map((upstream) => [responseKeyName(upstream, id), upstream]));
      const found = await named.firstIndexed(projects, [...upstreamByName.keys()]);
      return found && { project: found.project, upstream: upstreamByName.get(found.name)! };
    },
  };
}

/** Returns the event of a completion, after indexing its response durably; `undefined` if there is nothing to record. */
async function eventOf(
  project: Project,
  completion: RecordedCompletion,
  calls: NamedCalls,
): Promise<CallEvent | undefined> {
  const { response, callId, startedAtMs } = completion;
  if (response === undefined) return completionEvent(completion);
  const name = { project, name: responseKeyName(response.upstream, response.id) };
  if (response.retrieved !== undefined)
    return endOf(completion, response, await calls.find(name, response.id));
  const isPending = completion.endedAtMs === null;
  const first = isPending || response.mayRepeat === true ? await calls.find(name, response.id) : undefined;
  // its end has come through another process
  if (isPending && first?.hasEnded === true) return undefined;
  if (first !== undefined && first.id !== callId) return completionEvent(uncharged(completion));
  await calls.note(name, { traceId: completion.traceId!, hour: hourOf(startedAtMs * 1000) });
  return completionEvent(completion);
}

/** The end of a response that was retrieved by its id: the first one counts. */
function endOf(
  completion: RecordedCompletion,
  { retrieved }: ResponseOfCall,
  call: Awaited<ReturnType<NamedCalls["find"]>>,
): CallEvent | undefined {
  if (call?.hasEnded === true) return undefined;
  const { sumtree } = completion.attributes;
  // a response created elsewhere without reported usage is not recorded
  if (call === undefined && retrieved === "unknown")
    return /none|estimated/.test(sumtree.usage) ? undefined : completionEvent(completion);
  const { outcome, usage, status } = sumtree;
  const first = call === undefined ? {} : attributesIn(call.attributes);
  return endOfResponse({
    ...completion,
    attributes: { sumtree: { ...sumtree, ...first, outcome, usage, status } },
  });
}

function attributesIn(json: string): object {
  const parsed: unknown = parseJson(json);
  const own = isJsonObject(parsed) ? parsed["sumtree"] : undefined;
  return isJsonObject(own) ? own : {};
}

/** The completion of a repeated request: its usage is that of the first. */
function uncharged(completion: RecordedCompletion): RecordedCompletion {
  const sumtree = { ...completion.attributes.sumtree, usage: "none" } as const;
  return { ...completion, summary: { usage: {} }, attributes: { sumtree } };
}

function completionEvent(completion: RecordedCompletion): CallEvent {
  const { traceId, parentId, opName, threadId = null, userId = null } = completion;
  const { callId: id, inputs, attributes, apiKey } = completion;
  const none = { displayName: null, turnId: null, runId: null, runStep: null, inclusive: false } as const;
  const startedAt = completion.startedAtMs * 1000;
  const named = { id, traceId, parentId, opName, threadId, userId, apiKey };
  return completeEvent({ ...named, ...none, startedAt, inputs, attributes }, endIn(completion));
}

/** The end event of a call started by a background response. */
function endOfResponse(completion: RecordedCompletion): CallEvent {
  const event = endEvent(endIn(completion));
  const { attributes } = completion;
  return { ...event, columns: { ...event.columns, ...columnsOf(startMembers, { attributes }) } };
}

function endIn(completion: RecordedCompletion) {
  const { callId: id, endedAtMs, output, attributes, summary, exception } = completion;
  const usageSource = attributes.sumtree.usage === "estimated" ? "estimate" : "gateway";
  const reports = reportsOf(completion);
  const ended = endedAtMs === null ? {} : { endedAt: endedAtMs * 1000, summary, exception, reports };
  return { id, output, ...ended, usageSource } as const;
}
