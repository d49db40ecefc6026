import { UNRECORDED } from "../stream/capture-rules.ts";
import { isStreamedText } from "./streamed-text.ts";

/** Captured JSON value. Objects are maps, because responses choose their member names. */
export type CapturedValue = string | number | boolean | null | CapturedValue[] | Map<string, CapturedValue>;

/** Deeper values are dropped. */
const MAX_DEPTH = 64;
/** Extra bytes for non-text values, so that the final events of a long response still fit. */
const RESERVE_BYTES = 64 * 1024;
const CONTAINER_BYTES = 16;
const SCALAR_BYTES = 8;
/** Members that contain images, audio or files. */
const MEDIA: ReadonlySet<string> = new Set(["data", "url", "b64_json"]);

/** Capture limit per response, in bytes of approximate JSON. Media may use half of it. */
export class ByteBudget {
  readonly #limitBytes: number;
  /** Kinds that overflowed. Text after the first overflow is dropped, so captured text is a prefix. */
  readonly #overflowedflowed = new Set<"text" | "media">();
  #usedBytes = 0;
  #isTruncated = false;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Some content was dropped. */
  get isTruncated(): boolean {
    return this.#isTruncated;
  }

  /** Reserves the text of a member; false if it does not fit. */
  reserveText(text: string, member: string): boolean {
    const bytes = Buffer.byteLength(text);
    if (MEDIA.has(member)) return this.#reserveWithin("media", bytes, this.#limitBytes / 2);
    return isStreamedText(member)
      ? this.#reserveWithin("text", bytes, this.#limitBytes)
      : this.reserve(bytes);
  }

  reserve(bytes: number): boolean {
    const fits = this.#usedBytes + bytes <= this.#limitBytes + RESERVE_BYTES;
    if (fits) this.#usedBytes += bytes;
    else this.#isTruncated = true;
    return fits;
  }

  refund(bytes: number): void {
    this.#usedBytes -= bytes;
  }

  markTruncated(): void {
    this.#isTruncated = true;
  }

  #reserveWithin(kind: "text" | "media", bytes: number, limitBytes: number): boolean {
    if (this.#usedBytes + bytes > limitBytes) this.#overflowedflowed.add(kind);
    if (this.#overflowedflowed.has(kind)) this.#isTruncated = true;
    else this.#usedBytes += bytes;
    return !this.#overflowedflowed.has(kind);
  }
}

/** Copies a value without unrecorded members, as far as the budget allows; `undefined` if nothing fits. */
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

/** Returns the budget used by a captured value, in bytes. */
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
