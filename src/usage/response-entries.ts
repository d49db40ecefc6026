import { isJsonObject } from "../shared/json.ts";
import { searchesIn } from "./read-units.ts";
import { toCount } from "./to-count.ts";

type Json = Readonly<Record<string, unknown>>;

/** The usage of one response: of the model that answered, and of others that took part in it. */
export interface ResponseEntries {
  readonly own: Json | undefined;
  readonly others: Readonly<Record<string, Json>>;
}

/** Reads the usage of an OpenAI Responses API response. Searches are in its output, images beside its usage. */
export function entriesOfResponse(response: Json): ResponseEntries {
  const { usage, tool_usage: tools } = response;
  const images = isJsonObject(tools) ? tools["image_gen"] : undefined;
  const searches = searchesIn(response);
  const own = isJsonObject(usage) ? { ...usage, ...searches } : searches;
  if (!isJsonObject(images) || !isUsed(images)) return { own, others: {} };
  return { own, others: { [imageModelOf(response)]: imageEntry(images) } };
}

/** Images are made by a model of their own, which only the tool names. */
function imageModelOf({ tools }: Json): string {
  const list = Array.isArray(tools) ? tools.filter(isJsonObject) : [];
  const model = list.find((tool) => tool["type"] === "image_generation")?.["model"];
  return typeof model === "string" && model !== "" ? model : "gpt-image-1";
}

/** Usage of a model that makes images. Without details, all of its output is image. */
export function imageEntry(usage: Json): Json {
  const hasDetails = ["output_tokens_details", "output_token_details"].some((name) =>
    isJsonObject(usage[name]),
  );
  return hasDetails ? usage : { ...usage, output_image_tokens: toCount(usage["output_tokens"]) };
}

/** Usage of a model that speaks: all of its output is sound. */
export function speechEntry(usage: Json): Json {
  return { ...usage, output_audio_tokens: toCount(usage["output_tokens"]) };
}

const NO_COUNTS: ReadonlySet<string> = new Set(["type", "model"]);
/** Facts of a message that hold for each of its attempts, unless the attempt says otherwise. */
const OF_ALL = ["service_tier", "inference_geo", "speed"] as const;

/**
 * What an Anthropic message used. The usage of its `iterations` is in the message's own only in part: compactions and
 * advisors come on top, and where another model took over, the own usage is that of the last attempt alone.
 * Source: https://platform.claude.com/docs, compaction, advisor tool, refusals and fallback.
 */
export function entriesOfMessage(usage: Json, model: string | undefined): ResponseEntries {
  const { iterations, ...own } = usage;
  const parts = Array.isArray(iterations) ? iterations.filter(isJsonObject) : [];
  const fellBack = parts.some((part) => part["type"] === "fallback_message");
  const shared = Object.fromEntries(OF_ALL.flatMap((name) => (own[name] == null ? [] : [[name, own[name]]])));
  const added = parts.filter(fellBack ? isCharged : isOnTop).map((part) => ({
    model: typeof part["model"] === "string" ? part["model"] : model,
    counts: { ...shared, ...countsOf(part) },
  }));
  const isOwn = (part: (typeof added)[number]): boolean => part.model === undefined || part.model === model;
  const others: Record<string, Json> = {};
  for (const part of added.filter((part) => !isOwn(part))) {
    const known = others[part.model!];
    others[part.model!] = known === undefined ? part.counts : addedUp(known, part.counts);
  }
  const ofModel = added.filter(isOwn).map(({ counts }) => counts);
  return {
    own: (fellBack ? ofModel : [own, ...ofModel]).reduce<Json | undefined>(
      (sum, counts) => (sum === undefined ? counts : addedUp(sum, counts)),
      undefined,
    ),
    others,
  };
}

function isOnTop({ type }: Json): boolean {
  return type === "compaction" || type === "advisor_message";
}

/** An attempt that declined before it wrote anything is free. */
function isCharged(part: Json): boolean {
  return isOnTop(part) || part["type"] === "fallback_message" || toCount(part["output_tokens"]) > 0;
}

function isUsed(usage: Json): boolean {
  return ["total_tokens", "input_tokens", "output_tokens"].some((name) => toCount(usage[name]) > 0);
}

function countsOf(part: Json): Json {
  const said = Object.entries(part).filter(([name, value]) => value != null && !NO_COUNTS.has(name));
  return Object.fromEntries(said);
}

/** Sums of all counts; of everything else, what the first says. */
function addedUp(one: Json, other: Json): Json {
  const sum: Record<string, unknown> = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const before = sum[name];
    if (typeof value === "number") sum[name] = typeof before === "number" ? before + value : value;
    else if (isJsonObject(value)) sum[name] = isJsonObject(before) ? addedUp(before, value) : value;
    else sum[name] = before ?? value;
  }
  return sum;
}
