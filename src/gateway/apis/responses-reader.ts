import { isJsonObject, isTooDeep } from "../../shared/json.ts";
import { readEntry } from "../../usage/read-entry.ts";
import { searchesIn } from "../../usage/read-units.ts";
import { entriesOfResponse, type ResponseEntries } from "../../usage/response-entries.ts";
import { addUnits, type UnitCounts } from "../../usage/units.ts";
import { isNothing } from "../../usage/usage.ts";
import { bytesOf, capture, ByteBudget, toJson, type CapturedValue } from "../recording/byte-budget.ts";
import { ReportedUsage } from "../recording/reported-usage.ts";
import { writtenBytes } from "../recording/streamed-text.ts";
import type { StreamEvent } from "../stream/stream-event.ts";
import type {
  ResponseReader,
  ResponseUsage,
  RelayOutcome,
  ReaderOptions,
  ObservedResponse,
} from "./model-api.ts";
import { textOf } from "./text-of.ts";

type Json = Readonly<Record<string, unknown>>;

const MAX_CAPTURED_BYTES = 1024 * 1024;
/** Some upstreams send `response.done` last. */
const LAST_EVENTS = new Set(
  ["completed", "incomplete", "failed", "cancelled", "done"].map((status) => `response.${status}`),
);
/** Start of the year 10000, in Unix seconds. */
const MAX_SECONDS = 253_402_300_800;
/** Final statuses of responses that have used tokens, whatever they wrote. */
const COUNTED = new Set(["completed", "incomplete"]);
const ENDED = new Set([...COUNTED, "failed", "cancelled"]);

/** True for the last event of a Responses API stream. */
export function isLastOfResponse(chunk: Json | undefined): boolean {
  return LAST_EVENTS.has(String(chunk?.["type"]));
}

/** Reads a Responses API response, from one object or from its events. Only the last event reports usage. */
export class ResponsesReader implements ResponseReader {
  readonly #capturesText: boolean;
  readonly #budget = new ByteBudget(MAX_CAPTURED_BYTES);
  /** Output items completed before the response. */
  readonly #items: CapturedValue[] = [];
  #partialText = "";
  #facts: CapturedValue | undefined;
  #latest: Json = {};
  #hasEvents = false;
  #isOver = false;
  #hasEnded = false;
  #textBytes = 0;
  #itemBytes = 0;
  #failure: string | undefined;
  #entries: ResponseEntries | undefined;
  /** Searches of completed output items, for a stream without its last event. */
  #searches: UnitCounts | undefined;

  constructor({ capturesText }: ReaderOptions) {
    this.#capturesText = capturesText;
  }

  get model(): string | undefined {
    return textOf(this.#latest["model"]);
  }

  get serviceTier(): string | undefined {
    return textOf(this.#latest["service_tier"]);
  }

  get id(): string | undefined {
    return textOf(this.#latest["id"]);
  }

  get status(): string | undefined {
    return textOf(this.#latest["status"]);
  }

  get isCancelled(): boolean {
    return this.status === "cancelled";
  }

  /** A final status was received. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get createdAtMs(): number | undefined {
    const seconds = this.#latest["created_at"];
    const isInstant = typeof seconds === "number" && seconds > 0 && seconds < MAX_SECONDS;
    return isInstant ? Math.floor(seconds) * 1000 : undefined;
  }

  get response(): ObservedResponse | undefined {
    const { id } = this;
    if (id === undefined) return undefined;
    return { id, isPending: this.#latest["background"] === true && !this.#hasEnded };
  }

  get hasResponse(): boolean {
    return Object.keys(this.#latest).length > 0;
  }

  get textBytes(): number {
    return this.#textBytes;
  }

  get capturedBytes(): number {
    return this.#budget.usedBytes;
  }

  get isIncomplete(): boolean {
    return this.#hasEvents && !this.#isOver;
  }

  get failure(): string | undefined {
    return this.#failure;
  }

  read({ chunk, kind, isBody, droppedTextBytes, isPartial, isUnsent }: StreamEvent): void {
    if (kind === "error" || kind === "flat_error") this.#isOver = true;
    if (chunk === undefined) return;
    const { type, response, delta, item } = chunk;
    const whole = isBody ? chunk : response;
    this.#hasEvents ||= !isBody;
    if (isJsonObject(whole)) this.#readResponse(whole, isBody || isLastOfResponse(chunk));
    if (isUnsent) return;
    if (isPartial) this.#budget.markTruncated();
    // whole output repeats the deltas, of which some servers send none
    const repeated = isJsonObject(whole) ? writtenBytes({ content: whole["output"] }) : this.#textBytes;
    this.#textBytes = Math.max(this.#textBytes, repeated + droppedTextBytes);
    if (typeof delta === "string") this.#readDelta(String(type), delta);
    else if (type === "response.output_item.done" && isJsonObject(item)) this.#keepItem(item);
  }

  usage({ promptBytes }: RelayOutcome): ResponseUsage {
    const { own, others } = this.#entries ?? { own: undefined, others: {} };
    const usage = { ...this.#searches, ...own };
    const textBytes = this.#textBytes;
    const reported = new ReportedUsage();
    reported.add(usage, { choice: undefined, isFinal: true, textBytes });
    const counted = reported.count({ isComplete: true, textBytes, promptBytes });
    if (counted.basis !== "none") return { ...counted, others };
    if (!isNothing(readEntry(usage)) || Object.keys(others).length > 0) return { ...counted, usage, others };
    // queued, failed or cancelled responses without usage and output used nothing
    const isUnused = this.#entries !== undefined && !COUNTED.has(this.status ?? "completed");
    return isUnused && textBytes === 0 ? { basis: "nothing" } : counted;
  }

  output(): Json | null {
    if (!this.hasResponse) return null;
    if (!this.#capturesText) return named(this.#latest);
    const facts = this.#facts === undefined ? {} : (toJson(this.#facts) as Json);
    const isWhole = Array.isArray(facts["output"]) && (facts["output"].length > 0 || !this.isIncomplete);
    const items = this.#items.map(toJson);
    return {
      ...named(this.#latest),
      ...facts,
      ...(isWhole || items.length === 0 ? {} : { output: items }),
      ...(isWhole || this.#partialText === "" ? {} : { output_text: this.#partialText }),
      ...(this.#budget.isTruncated ? { truncated: true } : {}),
    };
  }

  #readResponse(response: Json, isLast: boolean): void {
    const said = Object.fromEntries(
      ["id", "model", "status", "service_tier", "background", "created_at"].flatMap((name) =>
        response[name] == null ? [] : [[name, response[name]]],
      ),
    );
    this.#latest = { ...this.#latest, ...said };
    const hasEnded = isLast && (this.#hasEvents || ENDED.has(textOf(response["status"]) ?? "completed"));
    if (hasEnded) {
      this.#isOver = true;
      this.#hasEnded = true;
    }
    if (isLast || isJsonObject(response["usage"])) this.#entries = entriesOfResponse(response);
    const { error, status } = response;
    if (isJsonObject(error)) this.#failure = textOf(error["message"]) ?? "The response failed.";
    else if (status === "failed") this.#failure ??= "The response failed.";
    else if (status === "cancelled") this.#failure ??= "The response was cancelled.";
    if (!this.#capturesText || isTooDeep(response)) return;
    const { instructions: _, tools: _tools, ...others } = response;
    if (isLast && Array.isArray(response["output"]) && response["output"].length > 0) this.#releaseItems();
    if (isLast || this.#facts === undefined) this.#facts = capture(others, this.#budget) ?? this.#facts;
  }

  #readDelta(type: string, delta: string): void {
    this.#textBytes += Buffer.byteLength(delta);
    if (!this.#capturesText || type !== "response.output_text.delta") return;
    if (this.#budget.reserveText(delta, "text")) this.#partialText += delta;
  }

  /** Drops captured items: the complete response repeats them. */
  #releaseItems(): void {
    for (const item of this.#items.splice(0)) this.#budget.refund(bytesOf(item));
    this.#budget.refund(Buffer.byteLength(this.#partialText));
    this.#partialText = "";
  }

  #keepItem(item: Json): void {
    this.#budget.refund(Buffer.byteLength(this.#partialText));
    this.#partialText = "";
    this.#itemBytes += writtenBytes({ content: item });
    this.#textBytes = Math.max(this.#textBytes, this.#itemBytes);
    this.#searches = addUnits(this.#searches, searchesIn({ output: [item] }));
    const kept = this.#capturesText && !isTooDeep(item) ? capture(item, this.#budget) : undefined;
    if (kept !== undefined) this.#items.push(kept);
  }
}

function named(facts: Json): Json {
  const { id, model, service_tier: tier, status } = facts;
  return {
    ...(id === undefined ? {} : { id }),
    ...(model === undefined ? {} : { model }),
    ...(tier === undefined ? {} : { service_tier: tier }),
    ...(status === undefined ? {} : { status }),
  };
}
