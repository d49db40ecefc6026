import { isJsonObject } from "../../shared/json.ts";
import { withRest } from "../../usage/read-entry.ts";
import { imageEntry, speechEntry } from "../../usage/response-entries.ts";
import { errorFrame } from "../errors.ts";
import { copyOf } from "./content.ts";
import type { Json } from "./draft.ts";
import { credible } from "./count-usage.ts";
import type { ModelApi } from "./model-api.ts";

interface Options {
  /** Event types that end a stream. */
  readonly lastEvents?: readonly string[];
  /** Unrecorded members: vectors, audio, images. */
  readonly omitted?: readonly string[];
  /** Converts the usage to priced units. */
  readonly entryOf?: (usage: Json) => Json;
  readonly isEstimated?: boolean;
}

/** APIs whose responses report usage once: in one object, or in the last event of a stream. */
function usageOnce({
  lastEvents = [],
  omitted = [],
  entryOf = (usage) => usage,
  isEstimated = false,
}: Options): Omit<ModelApi, "path" | "opName"> {
  const last: ReadonlySet<unknown> = new Set(lastEvents);
  const unrecorded: ReadonlySet<string> = new Set(omitted);
  return {
    api: "openai",
    isNeverEstimated: !isEstimated,
    isLast: ({ type }) => last.has(type),
    errorEvent: errorFrame,
    fold(draft, event, isBody) {
      const { delta } = event;
      const isLast = isBody || last.has(event["type"]);
      draft.name(event["id"], event["model"], event["service_tier"]);
      draft.hasEnded ||= isLast;
      if (typeof delta === "string") draft.textBytes += Buffer.byteLength(delta);
      const usage = usageIn(event);
      if (usage !== undefined) {
        draft.usage = credible(entryOf(usage));
        draft.isCounted = true;
      }
      if (isLast && draft.keepsContent) draft.output = copyOf(draft, without(event, unrecorded));
    },
  };
}

/** Returns the reported usage; Cohere reports it in `meta`. */
function usageIn({ usage, meta }: Json): Json | undefined {
  if (isJsonObject(usage)) return usage;
  return isJsonObject(meta) && isJsonObject(meta["billed_units"])
    ? { billed_units: meta["billed_units"] }
    : undefined;
}

function without(value: Json, omitted: ReadonlySet<string>): Json {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]): [string, unknown][] => {
      if (omitted.has(name)) return [];
      if (!Array.isArray(inner)) return [[name, inner]];
      return [[name, inner.map((item) => (isJsonObject(item) ? without(item, omitted) : item))]];
    }),
  );
}

const input = (usage: Json): Json => withRest(usage, true);

export const embeddingsApi = usageOnce({
  omitted: ["data", "embeddings"],
  entryOf: input,
  isEstimated: true,
});
export const rerankApi = usageOnce({ entryOf: input });
export const transcriptsApi = usageOnce({
  lastEvents: ["transcript.text.done"],
  omitted: ["words", "segments", "logprobs"],
});
export const speechApi = usageOnce({
  lastEvents: ["speech.audio.done"],
  omitted: ["audio"],
  entryOf: speechEntry,
});
export const imagesApi = usageOnce({
  lastEvents: ["image_generation.completed", "image_edit.completed"],
  omitted: ["b64_json"],
  entryOf: imageEntry,
});
