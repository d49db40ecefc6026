import type { NamedCalls } from "../../calls/storage-key/named-calls.ts";
import type { CallWriter } from "../../calls/write/call-writer.ts";
import { keyText, type StorageKeyLookup } from "../../calls/storage-key/key-lookup.ts";
import { runAsTenant } from "../../fairness/tenant.ts";
import type { ResponseMakers } from "../responses/known-responses.ts";
import { responseKeyName } from "../responses/response-id.ts";
import type { CompletionStore } from "./recorder.ts";
import { eventsOfCompletion } from "./response-calls.ts";

/** Creates a completion store that writes calls like every other client. */
export function completionStore(
  writer: CallWriter,
  traces: StorageKeyLookup,
  named: NamedCalls,
): CompletionStore & ResponseMakers {
  return {
    async write(project, completion) {
      const tenant = { project, key: completion.apiKey };
      const events = await eventsOfCompletion(project, completion, named);
      if (events.length > 0) await runAsTenant(tenant, () => writer.write(project, events));
    },
    async findStored(calls) {
      const keys = calls.map(({ project, callId }) => ({ project, id: callId }));
      const found = await traces.find(keys);
      return new Set(keys.filter((key) => found.has(keyText(key))).map(({ id }) => id));
    },
    async findMaker(projects, id, upstreams) {
      const names = upstreams.map((upstream) => responseKeyName(upstream, id));
      const indexed = await named.firstIndexed(projects, names);
      return indexed === undefined ? undefined : upstreams[names.indexOf(indexed)];
    },
  };
}
