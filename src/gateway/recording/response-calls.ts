import type { NamedCalls } from "../../calls/storage-key/named-calls.ts";
import type { CallEvent } from "../../calls/events/call-event.ts";
import { hourOf } from "../../shared/instant.ts";
import { isJsonObject, parseJson } from "../../shared/json.ts";
import type { Project } from "../../shared/project.ts";
import { responseKeyName } from "../responses/response-id.ts";
import { completionEvent, endOfResponse } from "./completion-call.ts";
import type { RecordedCompletion } from "./recorded-completion.ts";

/** Returns the call events of a completion, after indexing its response id durably. Throws `StorageError`. */
export async function eventsOfCompletion(
  project: Project,
  completion: RecordedCompletion,
  calls: NamedCalls,
): Promise<readonly CallEvent[]> {
  const { response, traceId, startedAtMs } = completion;
  if (response === undefined) return [completionEvent(completion)];
  if (response.sighting === "known") return [endOfResponse(completion)];
  const name = { project, name: responseKeyName(response.upstream, response.id) };
  if (response.sighting === undefined) {
    await calls.note(name, { traceId, hour: hourOf(startedAtMs * 1000) });
    return [completionEvent(completion)];
  }
  const call = await calls.find(name, response.id);
  if (call === undefined) {
    // a response created elsewhere without reported usage is not recorded
    const { usage } = completion.attributes.sumtree;
    return usage === "none" || usage === "estimated" ? [] : [completionEvent(completion)];
  }
  if (call.hasEnded) return [];
  const { sumtree } = completion.attributes;
  const { outcome, usage, status } = sumtree;
  const attributes = { sumtree: { ...sumtree, ...marksIn(call.attributes), outcome, usage, status } };
  return [endOfResponse({ ...completion, callId: call.id, attributes })];
}

function marksIn(attributes: string): object {
  const parsed: unknown = parseJson(attributes);
  const marks = isJsonObject(parsed) ? parsed["sumtree"] : undefined;
  return isJsonObject(marks) ? marks : {};
}
