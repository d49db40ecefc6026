import { isProjectId, type Grant } from "../auth/grant.ts";
import type { Engine } from "../clickhouse/engine.ts";
import { AppError } from "../shared/errors.ts";
import { isJsonObject, parseJson, stringifyJson } from "../shared/json.ts";
import type { Project } from "../shared/project.ts";
import { parseContentRef, type ContentRef, type Step } from "./content-ref.ts";
import { rowText } from "./data-tables.ts";
import { valueText } from "./object-text.ts";
import { findVersion } from "./object-versions.ts";

/** A way that leads from reference to reference in a circle ends here. */
const MAX_REFERENCES = 32;
/** What one request may read: a way into a large value is short, the value is not. */
const MAX_BYTES = 256 * 1024 * 1024;

export interface RefReader {
  /**
   * What a reference leads to, as JSON: null where the way into it leads nowhere. Undefined: there is no such object or
   * table. Errors: payload_too_large, when everything read so far is.
   */
  read(ref: ContentRef): Promise<string | undefined>;
}

/** Reads for one request, in the projects that its key may use. */
export function createRefReader(engine: Engine, grant: Grant): RefReader {
  let bytes = 0;

  async function textOf(ref: ContentRef, project: Project): Promise<string | undefined> {
    const text = await read(engine, project, ref);
    bytes += text?.length ?? 0;
    if (bytes > MAX_BYTES) throw new AppError("payload_too_large", "These are too much at once: read fewer.");
    return text;
  }

  return {
    async read(first) {
      let ref = first;
      for (let references = 0; references < MAX_REFERENCES; references++) {
        const text = await textOf(ref, grant.project(ref.projectId));
        if (text === undefined) return references === 0 ? undefined : "null";
        const steps = ref.kind === "table" ? ref.path.slice(1) : ref.path;
        if (steps.length === 0) return text;
        const end = follow(parseJson(text), steps);
        if (end.rest === undefined) return stringifyJson(end.value);
        const next = parseContentRef(end.value as string);
        if (next === undefined || !isProjectId(next.projectId) || !grant.covers(next.projectId))
          return "null";
        ref = { ...next, path: [...next.path, ...end.rest] };
      }
      return "null";
    },
  };
}

/** `{"vals":[…]}` piece by piece. Errors: not_found, which names the place of a reference to nothing. */
export async function* refListText(
  refs: readonly ContentRef[],
  reader: RefReader,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  let separator = '{"vals":[';
  for (const [at, ref] of refs.entries()) {
    signal.throwIfAborted();
    const text = await reader.read(ref);
    if (text === undefined) throw new AppError("not_found", `There is nothing at refs[${at}].`);
    yield Buffer.from(separator + text);
    separator = ",";
  }
  yield Buffer.from(separator === "," ? "]}" : `${separator}]}`);
}

async function read(engine: Engine, project: Project, ref: ContentRef): Promise<string | undefined> {
  if (ref.kind === "table") {
    const [row] = ref.path;
    return row?.edge === "id" ? rowText(engine, project, row.name) : undefined;
  }
  const named = { object_id: ref.objectId, digest: ref.version };
  const version = /^(latest|v\d+)$/.test(ref.version) ? await findVersion(engine, project, ref) : named;
  return version && valueText(engine, project, version);
}

/** `rest` is set when the way leads on through a reference, which is the value then. */
interface End {
  readonly value: unknown;
  readonly rest?: readonly Step[];
}

function follow(start: unknown, steps: readonly Step[]): End {
  let value = start;
  for (const [at, step] of steps.entries()) {
    if (typeof value === "string") return { value, rest: steps.slice(at) };
    value = into(value, step);
    if (value === undefined) return { value: null };
  }
  return { value };
}

function into(value: unknown, { edge, name }: Step): unknown {
  if (edge === "index") return Array.isArray(value) && /^\d+$/.test(name) ? value[Number(name)] : undefined;
  if (edge === "id") return undefined;
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
