import { UNRECORDED } from "../stream/capture-rules.ts";
import { isStreamedText } from "./streamed-text.ts";

/** A part of a response as it is kept. Objects are maps: a response may name its members as it likes. */
export type CapturedValue = string | number | boolean | null | CapturedValue[] | Map<string, CapturedValue>;

/** Deeper values are left out. */
const MAX_DEPTH = 64;
/** What is no text may be kept beyond the limit by so much: how a long answer ended comes after it. */
const RESERVE_BYTES = 64 * 1024;
const CONTAINER_BYTES = 16;
const SCALAR_BYTES = 8;
/** Members with images, sound or other files. */
const MEDIA: ReadonlySet<string> = new Set(["data", "url", "b64_json"]);

/** How much of one response is kept, in bytes of about its JSON. Media may take half of it, so that text finds room. */
export class ByteBudget {
  readonly #limitBytes: number;
  /** From the first text that does not fit, none does: what is kept has no gap. */
  readonly #over = new Set<"text" | "media">();
  #usedBytes = 0;
  #hasGap = false;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Something was left out. */
  get isTruncated(): boolean {
    return this.#hasGap;
  }

  /** Takes room for the text of a member; false if it does not fit. */
  reserveText(text: string, member: string): boolean {
    const bytes = Buffer.byteLength(text);
    if (MEDIA.has(member)) return this.#takeFrom("media", bytes, this.#limitBytes / 2);
    return isStreamedText(member) ? this.#takeFrom("text", bytes, this.#limitBytes) : this.reserve(bytes);
  }

  reserve(bytes: number): boolean {
    const fits = this.#usedBytes + bytes <= this.#limitBytes + RESERVE_BYTES;
    if (fits) this.#usedBytes += bytes;
    else this.#hasGap = true;
    return fits;
  }

  refund(bytes: number): void {
    this.#usedBytes -= bytes;
  }

  markTruncated(): void {
    this.#hasGap = true;
  }

  #takeFrom(kind: "text" | "media", bytes: number, limitBytes: number): boolean {
    if (this.#usedBytes + bytes > limitBytes) this.#over.add(kind);
    if (this.#over.has(kind)) this.#hasGap = true;
    else this.#usedBytes += bytes;
    return !this.#over.has(kind);
  }
}

/** A copy of a member's value, without what is never recorded, as far as it fits; undefined if nothing of it does. */
export function capture(
  value: unknown,
  budget: ByteBudget,
  member = "",
  depth = MAX_DEPTH,
): CapturedValue | undefined {
  if (typeof value === "string") return budget.reserveText(value, member) ? value : undefined;
  if (typeof value !== "object" || value === null)
    return budget.reserve(SCALAR_BYTES) ? (value as number | boolean | null) : undefined;
  if (depth === 0) budget.markTruncated();
  if (depth === 0 || !budget.reserve(CONTAINER_BYTES)) return undefined;
  if (Array.isArray(value)) {
    return value.map((item) => capture(item, budget, member, depth - 1)).filter((item) => item !== undefined);
  }
  const kept = new Map<string, CapturedValue>();
  for (const [name, inner] of Object.entries(value)) {
    const copy = UNRECORDED.has(name) ? undefined : capture(inner, budget, name, depth - 1);
    if (copy !== undefined && budget.reserve(nameBytes(name))) kept.set(name, copy);
  }
  return kept;
}

export function nameBytes(name: string): number {
  return Buffer.byteLength(name) + SCALAR_BYTES;
}

/** What a value has taken of its room. */
export function bytesOf(kept: CapturedValue): number {
  if (typeof kept === "string") return Buffer.byteLength(kept);
  if (Array.isArray(kept)) return kept.reduce((sum: number, item) => sum + bytesOf(item), CONTAINER_BYTES);
  if (!(kept instanceof Map)) return SCALAR_BYTES;
  return [...kept].reduce((sum, [name, inner]) => sum + nameBytes(name) + bytesOf(inner), CONTAINER_BYTES);
}

export function toJson(kept: CapturedValue): unknown {
  if (Array.isArray(kept)) return kept.map(toJson);
  return kept instanceof Map
    ? Object.fromEntries([...kept].map(([name, inner]) => [name, toJson(inner)]))
    : kept;
}
