import { isProjectId, type Grant } from "../http/auth/grant.ts";
import type { Engine } from "../store/engine.ts";
import { AppError } from "../shared/errors.ts";
import { isJsonObject, parseJson, stringifyJson } from "../shared/json.ts";
import { parseContentRef, type ContentRef, type Step } from "./content-ref.ts";
import { sourceTexts } from "./ref-sources.ts";

/** Limit of steps from reference to reference, for cycles. */
const MAX_REFERENCES = 32;
/** Limit of a request in bytes: values read plus values returned. */
const MAX_BYTES = 256 * 1024 * 1024;
const FIRST_WINDOW = 32;
/** Target size of the values of a window, in bytes. */
const WINDOW_BYTES = 8 * 1024 * 1024;

export interface RefReading {
  readonly engine: Engine;
  readonly grant: Grant;
  readonly signal: AbortSignal;
}

/**
 * Yields `{"vals":[…]}` chunk by chunk; null where a path into a value does not exist. Errors: not_found, with the position of
 * the reference whose target does not exist; payload_too_large. Cost: windows of about 8 MiB; each takes one or two
 * statements per project for every step from reference to reference.
 */
export async function* refListText(refs: readonly ContentRef[], reading: RefReading): AsyncGenerator<Buffer> {
  const window = new WindowReader(reading);
  let separator = '{"vals":[';
  for (let from = 0, size = FIRST_WINDOW; from < refs.length;) {
    const texts = await window.read(refs.slice(from, from + size), from);
    const chunk = Buffer.from(separator + texts.join(","));
    yield chunk;
    separator = ",";
    from += size;
    size = Math.max(1, Math.floor((size * WINDOW_BYTES) / chunk.length));
  }
  yield Buffer.from(separator === "," ? "]}" : `${separator}]}`);
}

/** A reference still to resolve, and its position in the window. */
interface OpenRef {
  readonly at: number;
  readonly ref: ContentRef;
}

class WindowReader {
  #bytes = 0;
  readonly #reading: RefReading;

  constructor(reading: RefReading) {
    this.#reading = reading;
  }

  /** Resolves references to values as JSON, all of them one step at a time. */
  async read(refs: readonly ContentRef[], from: number): Promise<readonly string[]> {
    const vals = refs.map(() => "null");
    let open: readonly OpenRef[] = refs.map((ref, at) => ({ at, ref }));
    for (let references = 0; references < MAX_REFERENCES && open.length > 0; references++) {
      const found = await this.#follow(open, vals);
      const missing = open.find((item) => !found.reached.has(item));
      if (missing !== undefined && references === 0) {
        throw new AppError("not_found", `The target of refs[${from + missing.at}] does not exist.`);
      }
      open = found.next;
    }
    return vals;
  }

  async #follow(open: readonly OpenRef[], vals: string[]) {
    const reached = new Set<OpenRef>();
    const next: OpenRef[] = [];
    for await (const { text, items } of sourceTexts(open, this.#reading)) {
      this.#count(text);
      // parsed once for all paths into it, and released before the next one
      const value = items.some(({ ref }) => stepsOf(ref).length > 0) ? parseJson(text) : undefined;
      for (const item of items) {
        reached.add(item);
        const steps = stepsOf(item.ref);
        const end: End = steps.length === 0 ? { text } : follow(value, steps);
        const ref = end.text === undefined ? this.#parse(end) : undefined;
        if (ref !== undefined) next.push({ at: item.at, ref });
        else if (end.text !== undefined) this.#count((vals[item.at] = end.text));
      }
    }
    return { reached, next };
  }

  /** Parses the next reference; `undefined` if the value is none, or the key may not read its project. */
  #parse({ through, rest }: Continued): ContentRef | undefined {
    const next = parseContentRef(through);
    if (next === undefined || !isProjectId(next.projectId)) return undefined;
    return this.#reading.grant.covers(next.projectId)
      ? { ...next, path: [...next.path, ...rest] }
      : undefined;
  }

  #count(text: string): void {
    this.#bytes += text.length;
    if (this.#bytes > MAX_BYTES)
      throw new AppError(
        "payload_too_large",
        `The referenced values exceed ${MAX_BYTES} bytes. Request fewer refs.`,
      );
  }
}

/** Returns the path into the value: a table's first step selects the row. */
function stepsOf(ref: ContentRef): readonly Step[] {
  return ref.kind === "table" ? ref.path.slice(1) : ref.path;
}

interface Reached {
  readonly text: string;
}
/** A path that continues through a reference in the value. */
interface Continued {
  readonly text?: undefined;
  readonly through: string;
  readonly rest: readonly Step[];
}
type End = Reached | Continued;

function follow(start: unknown, steps: readonly Step[]): End {
  let value = start;
  for (const [at, step] of steps.entries()) {
    if (typeof value === "string") return { through: value, rest: steps.slice(at) };
    value = child(value, step);
    if (value === undefined) return { text: "null" };
  }
  return { text: stringifyJson(value) };
}

function child(value: unknown, { edge, name }: Step): unknown {
  if (edge === "index") return Array.isArray(value) && /^\d+$/.test(name) ? value[Number(name)] : undefined;
  if (edge === "id") return undefined;
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
