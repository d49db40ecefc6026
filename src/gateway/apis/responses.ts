import { isJsonObject } from "../../shared/json.ts";
import { searchesIn } from "../../usage/read-units.ts";
import { entriesOfResponse } from "../../usage/response-entries.ts";
import { toCount } from "../../usage/to-count.ts";
import type { ErrorObject } from "../errors.ts";
import { addText, copyOf, keep } from "./content.ts";
import { newMembers, type Draft, type Json, ResponseState, textOf } from "./draft.ts";
import { credible } from "./count-usage.ts";
import type { ModelApi } from "./model-api.ts";
import { writtenBytes } from "./written-text.ts";

const FINAL = ["completed", "incomplete", "failed", "cancelled"] as const;
const ENDED: ReadonlySet<string> = new Set(FINAL);
/** Some upstreams send `response.done` last. */
const LAST_EVENTS: ReadonlySet<unknown> = new Set([...FINAL, "done"].map((status) => `response.${status}`));
/** Start of the year 10000, in Unix seconds. */
const MAX_SECONDS = 253_402_300_800;
const UNRECORDED: ReadonlySet<string> = new Set(["instructions", "tools"]);

/** OpenAI's Responses API. Only the last event reports the usage of the whole response. */
export const responsesApi: Omit<ModelApi, "path" | "opName"> = {
  api: "openai",
  isLast: ({ type }) => LAST_EVENTS.has(type),
  /** In flat and nested form, because SDKs read either. */
  errorEvent(error: ErrorObject) {
    const { message, code, param } = error;
    const data = JSON.stringify({ type: "error", code, message, param, error });
    return Buffer.from(`event: error\ndata: ${data}\n\n`);
  },
  fold(draft, event, isBody) {
    const { type, response, delta, item } = event;
    const whole = isBody ? event : response;
    if (isJsonObject(whole)) foldResponse(draft, whole, { isBody, isLast: isBody || LAST_EVENTS.has(type) });
    else if (typeof delta === "string") foldDelta(draft, type, delta);
    else if (type === "response.output_item.done" && isJsonObject(item)) foldItem(draft, item);
  },
};

function foldResponse(
  draft: Draft,
  response: Json,
  { isBody, isLast }: { isBody: boolean; isLast: boolean },
): void {
  draft.name(response["id"], response["model"], response["service_tier"]);
  const state = (draft.response ??= new ResponseState());
  state.status = textOf(response["status"]) ?? state.status;
  state.isBackground ||= response["background"] === true;
  state.createdAtMs = millisecondsOf(response["created_at"]) ?? state.createdAtMs;
  draft.hasEnded ||= isLast && (!isBody || ENDED.has(state.status ?? "completed"));
  draft.failure ??= failureOf(response);
  // whole output repeats the deltas, of which some servers send none
  draft.textBytes = Math.max(draft.textBytes, writtenBytes({ content: response["output"] }));
  if (isLast || isJsonObject(response["usage"])) foldUsage(draft, response, isLast);
  if (draft.keepsContent) keepResponse(draft, response, isLast);
}

function failureOf({ error, status }: Json): string | undefined {
  if (isJsonObject(error)) return textOf(error["message"]) ?? "The response failed.";
  if (status === "failed") return "The response failed.";
  return status === "cancelled" ? "The response was cancelled." : undefined;
}

function foldUsage(draft: Draft, response: Json, isLast: boolean): void {
  const { own, others } = entriesOfResponse(response);
  draft.usage = credible({ ...draft.usage, ...own });
  draft.others = others;
  draft.isCounted = isLast;
  draft.countedBytes = draft.textBytes;
}

/** The last response has all of the output that came in pieces. */
function keepResponse(draft: Draft, response: Json, isLast: boolean): void {
  const { output, ...facts } = response;
  const hasOutput = Array.isArray(output) && output.length > 0;
  if (isLast && hasOutput) {
    draft.output = newMembers();
    draft.contentBytes = 0;
    draft.isTruncated = false;
  }
  keep(draft, draft.output, facts, UNRECORDED);
  if (hasOutput || draft.output["output"] === undefined)
    Object.assign(draft.output, copyOf(draft, { output: output ?? [] }));
}

function foldDelta(draft: Draft, type: unknown, delta: string): void {
  draft.textBytes += Buffer.byteLength(delta);
  if (draft.keepsContent && type === "response.output_text.delta")
    addText(draft, draft.output, "output_text", delta);
}

function foldItem(draft: Draft, item: Json): void {
  for (const [name, count] of Object.entries(searchesIn({ output: [item] }) ?? {}))
    draft.usage = { ...draft.usage, [name]: toCount(draft.usage?.[name]) + count };
  const state = (draft.response ??= new ResponseState());
  state.itemBytes += writtenBytes({ content: item });
  draft.textBytes = Math.max(draft.textBytes, state.itemBytes);
  if (!draft.keepsContent) return;
  const items = Array.isArray(draft.output["output"]) ? (draft.output["output"] as unknown[]) : [];
  draft.output["output"] = [...items, copyOf(draft, item)];
  delete draft.output["output_text"];
}

function millisecondsOf(seconds: unknown): number | undefined {
  const isInstant = typeof seconds === "number" && seconds > 0 && seconds < MAX_SECONDS;
  return isInstant ? Math.floor(seconds) * 1000 : undefined;
}
