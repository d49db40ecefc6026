import { isJsonObject, isTooDeep } from "../../shared/json.ts";
import { capture, ByteBudget, toJson, type CapturedValue } from "../recording/byte-budget.ts";
import { ReportedUsage } from "../recording/reported-usage.ts";
import type { StreamEvent } from "../stream/stream-event.ts";
import type { ResponseReader, ResponseUsage, RelayOutcome, ReaderOptions } from "./model-api.ts";
import { textOf } from "./text-of.ts";

type Json = Readonly<Record<string, unknown>>;

export interface PlainResponses {
  /** Event types that end a stream. */
  readonly lastEvents: ReadonlySet<string>;
  /** Unrecorded members: vectors, audio, images. */
  readonly omitted: ReadonlySet<string>;
  /** Converts the usage to priced units. */
  readonly entryOf: (usage: Json) => Json;
  /** Estimates missing usage from text sizes; otherwise missing usage is `nothing`. */
  readonly isEstimated: boolean;
}

const MAX_CAPTURED_BYTES = 1024 * 1024;

/** Reads responses that report usage once: in one object, or in the last stream event. */
export class PlainReader implements ResponseReader {
  readonly #options: PlainResponses;
  readonly #capturesText: boolean;
  readonly #budget = new ByteBudget(MAX_CAPTURED_BYTES);
  #facts: Json = {};
  #kept: CapturedValue | undefined;
  #usage: Json | undefined;
  #hasEvents = false;
  #isOver = false;
  #textBytes = 0;

  readonly failure = undefined;

  constructor(options: PlainResponses, { capturesText }: ReaderOptions) {
    this.#options = options;
    this.#capturesText = capturesText;
  }

  get model(): string | undefined {
    return textOf(this.#facts["model"]);
  }

  get serviceTier(): string | undefined {
    return textOf(this.#facts["service_tier"]);
  }

  get hasResponse(): boolean {
    return this.#kept !== undefined || this.#usage !== undefined || this.#hasEvents;
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

  read({ chunk, kind, isBody, isPartial, isUnsent }: StreamEvent): void {
    if (kind === "done" || kind === "error" || kind === "flat_error") this.#isOver = true;
    if (chunk === undefined) return;
    if (isPartial) this.#budget.markTruncated();
    const isLast = isBody || this.#options.lastEvents.has(String(chunk["type"]));
    this.#hasEvents ||= !isBody;
    this.#isOver ||= isLast;
    if (!isUnsent && typeof chunk["delta"] === "string") this.#textBytes += Buffer.byteLength(chunk["delta"]);
    const usage = usageOf(chunk);
    if (usage !== undefined && !isTooDeep(usage)) this.#usage = usage;
    const { id, model, service_tier: tier } = chunk;
    for (const [name, value] of Object.entries({ id, model, service_tier: tier })) {
      if (value != null) this.#facts = { ...this.#facts, [name]: value };
    }
    if (!isLast || !this.#capturesText || isTooDeep(chunk)) return;
    this.#kept = capture(without(chunk, this.#options.omitted), this.#budget);
  }

  usage({ promptBytes, isComplete }: RelayOutcome): ResponseUsage {
    if (this.#usage === undefined) return { basis: this.#options.isEstimated ? "none" : "nothing" };
    const entry = this.#options.entryOf(this.#usage);
    const reported = new ReportedUsage();
    reported.add(entry, { choice: undefined, isFinal: true, textBytes: 0 });
    const counted = reported.count({
      isComplete,
      textBytes: 0,
      promptBytes: this.#options.isEstimated ? promptBytes : 0,
    });
    // searches, pages and seconds are not tokens
    return counted.basis === "none" && Object.keys(entry).length > 0
      ? { basis: "exact", usage: entry, others: {} }
      : counted;
  }

  output(): Json | null {
    const whole = this.#kept === undefined ? this.#facts : (toJson(this.#kept) as Json);
    if (Object.keys(whole).length === 0) return null;
    return this.#capturesText
      ? { ...whole, ...(this.#budget.isTruncated ? { truncated: true } : {}) }
      : this.#facts;
  }
}

/** Returns the reported usage; Cohere reports it in `meta`. */
function usageOf({ usage, meta }: Json): Json | undefined {
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
