import { isProjectId, type Grant } from "../http/auth/grant.ts";
import type { Engine } from "../store/engine.ts";
import { AppError } from "../shared/errors.ts";
import { isJsonObject, parseJson, stringifyJson } from "../shared/json.ts";
import { parseContentRef, type ContentRef, type Step } from "./content-ref.ts";
import { sourceTexts } from "./ref-sources.ts";

/** Limit of steps, for reference cycles. */
const MAX_REFERENCES = 32;
/** Read and response limits of one request. */
const MAX_BYTES = 256 * 1024 * 1024;
const FIRST_WINDOW = 32;
/** Target size of the values of a window. */
const WINDOW_BYTES = 8 * 1024 * 1024;

export interface RefReading {
  readonly engine: Engine;
  readonly grant: Grant;
  readonly signal: AbortSignal;
}

/**
 * `{"vals":[…]}` piece by piece; null where a path into a value leads nowhere. Errors: not_found, which names the position of a
 * reference to nothing; payload_too_large. Cost: the references are read in windows of about 8 MiB;
 * each window takes one or two statements per project for every step from reference to reference.
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

/** Progress in resolving one reference. */
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

  /** The values that references lead to, as JSON. All are followed one step at a time. */
  async read(refs: readonly ContentRef[], from: number): Promise<readonly string[]> {
    const vals = refs.map(() => "null");
    let open: readonly OpenRef[] = refs.map((ref, at) => ({ at, ref }));
    for (let references = 0; references < MAX_REFERENCES && open.length > 0; references++) {
      const found = await this.#follow(open, vals);
      const nowhere = open.find((one) => !found.reached.has(one));
      if (nowhere !== undefined && references === 0) {
        throw new AppError("not_found", `There is nothing at refs[${from + nowhere.at}].`);
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
      for (const one of items) {
        reached.add(one);
        const steps = stepsOf(one.ref);
        const end: End = steps.length === 0 ? { text } : follow(value, steps);
        const ref = end.text === undefined ? this.#parse(end) : undefined;
        if (ref !== undefined) next.push({ at: one.at, ref });
        else if (end.text !== undefined) this.#count((vals[one.at] = end.text));
      }
    }
    return { reached, next };
  }

  /** Undefined if the value is not a reference, or one that the key may not read. */
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
      throw new AppError("payload_too_large", "These are too much at once: read fewer.");
  }
}

/** The first step of a path into a table names its row. */
function stepsOf(ref: ContentRef): readonly Step[] {
  return ref.kind === "table" ? ref.path.slice(1) : ref.path;
}

interface Reached {
  readonly text: string;
}
/** The path continues through a reference in the value. */
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
    value = into(value, step);
    if (value === undefined) return { text: "null" };
  }
  return { text: stringifyJson(value) };
}

function into(value: unknown, { edge, name }: Step): unknown {
  if (edge === "index") return Array.isArray(value) && /^\d+$/.test(name) ? value[Number(name)] : undefined;
  if (edge === "id") return undefined;
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
