import { isJsonObject } from "../../shared/json.ts";
import { withRest } from "../../usage/read-entry.ts";
import { imageEntry, speechEntry } from "../../usage/response-entries.ts";
import { errorFrame } from "../error-envelope.ts";
import { copyOf } from "./content.ts";
import type { Draft, Json } from "./draft.ts";
import { credible } from "./merge-counts.ts";
import type { ModelApi } from "./model-api.ts";
import { textOf } from "./text-of.ts";

interface Options {
  /** Event types that end a stream. */
  readonly lastEvents?: readonly string[];
  /** Unrecorded members: vectors, audio, images. */
  readonly omitted?: readonly string[];
  /** Converts the usage to priced units. */
  readonly entryOf?: (usage: Json) => Json;
}

/** APIs whose responses report usage once: in one object, or in the last event of a stream. */
function usageOnce({ lastEvents = [], omitted = [], entryOf = (usage) => usage }: Options) {
  const last: ReadonlySet<unknown> = new Set(lastEvents);
  const unrecorded: ReadonlySet<string> = new Set(omitted);
  return {
    api: "openai",
    isLast: ({ type }) => last.has(type),
    errorEvent: errorFrame,
    fold(draft, event, isBody) {
      const { delta } = event;
      const isLast = isBody || last.has(event["type"]);
      draft.id = textOf(event["id"]) ?? draft.id;
      draft.model = textOf(event["model"]) ?? draft.model;
      draft.tier = textOf(event["service_tier"]) ?? draft.tier;
      draft.hasEnded ||= isLast;
      if (typeof delta === "string") draft.textBytes += Buffer.byteLength(delta);
      foldUsage(draft, usageIn(event), entryOf);
      if (isLast && draft.keepsContent) draft.output = copyOf(draft, without(event, unrecorded));
    },
  } satisfies Omit<ModelApi, "path" | "opName">;
}

function foldUsage(draft: Draft, usage: Json | undefined, entryOf: (usage: Json) => Json): void {
  if (usage === undefined) return;
  draft.usage = credible(entryOf(usage));
  draft.isCounted = true;
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

export const embeddingsApi = usageOnce({ omitted: ["data", "embeddings"], entryOf: input });
export const rerankApi = { ...usageOnce({ entryOf: input }), isNeverEstimated: true } as const;
export const transcriptsApi = {
  ...usageOnce({ lastEvents: ["transcript.text.done"], omitted: ["words", "segments", "logprobs"] }),
  isNeverEstimated: true,
} as const;
export const speechApi = {
  ...usageOnce({ lastEvents: ["speech.audio.done"], omitted: ["audio"], entryOf: speechEntry }),
  isNeverEstimated: true,
} as const;
export const imagesApi = {
  ...usageOnce({
    lastEvents: ["image_generation.completed", "image_edit.completed"],
    omitted: ["b64_json"],
    entryOf: imageEntry,
  }),
  isNeverEstimated: true,
} as const;
