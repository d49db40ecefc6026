import type { CallWriter } from "../../calls/write/call-writer.ts";
import { keyText, type PlaceLookup } from "../../calls/place/place-lookup.ts";
import { actingFor } from "../../shares/holder.ts";
import { completionPart } from "./completion-call.ts";
import type { CompletionStore } from "./recorder.ts";

/** Completions are stored as all other calls are. */
export function completionStore(writer: CallWriter, traces: PlaceLookup): CompletionStore {
  return {
    async write(project, completion) {
      const holder = { project, key: completion.apiKey };
      await actingFor(holder, () => writer.write(project, [completionPart(completion)]));
    },
    async findStored(calls) {
      const keys = calls.map(({ project, callId }) => ({ project, id: callId }));
      const found = await traces.find(keys);
      return new Set(keys.filter((key) => found.has(keyText(key))).map(({ id }) => id));
    },
  };
}
