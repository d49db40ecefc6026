import { isJsonObject, isTooDeep, parseJson } from "../../shared/json.ts";
import { INPUTS, OUTPUT } from "./attribute-rows.ts";
import type { Attributes } from "./attributes.ts";
import { unflatten } from "./unflatten.ts";

export interface Payload {
  /** `undefined` if the span has none; likewise `output`. */
  readonly inputs: Readonly<Record<string, unknown>> | undefined;
  readonly output: unknown;
  /** The remaining attributes. */
  readonly rest: Attributes;
}

/** Extracts inputs and output from attributes. Text that is a JSON object or list is parsed. */
export function extractPayload(attributes: Attributes): Payload {
  const rest = new Map(attributes);
  const lists = keysOfLists(attributes);
  const extract = (key: string): unknown => {
    if (rest.has(key)) return readText(removeKey(rest, key));
    const keys = lists.get(key);
    return keys === undefined ? undefined : listOf(key, keys, rest);
  };

  const inputs: Record<string, unknown> = {};
  for (const { attribute, as, spread } of INPUTS) {
    const value = Object.hasOwn(inputs, as) ? undefined : extract(attribute);
    if (value === undefined) continue;
    if (spread === true && isJsonObject(value)) Object.assign(inputs, { ...value, ...inputs });
    else inputs[as] = value;
  }
  const output = extractOutput(rest, extract);
  return { inputs: Object.keys(inputs).length === 0 ? undefined : inputs, output, rest };
}

function extractOutput(attributes: Attributes, extract: (key: string) => unknown): unknown {
  for (const key of OUTPUT) {
    const value = attributes.get(key) === "" ? undefined : extract(key);
    if (value !== undefined) return value;
  }
  return undefined;
}

function removeKey(attributes: Map<string, unknown>, key: string): unknown {
  const value = attributes.get(key);
  attributes.delete(key);
  return value;
}

const NUMBERED = /^(.*?)\.\d+(?:\.|$)/;

/** The keys `x.0.…`, `x.1.…`, grouped by `x`. */
function keysOfLists(attributes: Attributes): ReadonlyMap<string | undefined, readonly string[]> {
  return Map.groupBy(attributes.keys(), (key) => NUMBERED.exec(key)?.[1]);
}

function listOf(key: string, keys: readonly string[], attributes: Map<string, unknown>): unknown {
  const items = keys.map((one) => [`list${one.slice(key.length)}`, removeKey(attributes, one)] as const);
  return unflatten(items)["list"];
}

function readText(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  try {
    const parsed = parseJson(value);
    // it is stored one level deeper, in `inputs`
    return isTooDeep([parsed]) ? value : parsed;
  } catch {
    return value;
  }
}
