import { parseJsonText } from "../../shared/escaped-keys.ts";
import { isJsonObject, isTooDeep, parseJson, parseOrUndefined } from "../../shared/json.ts";
import { countValues } from "../../shared/json-size.ts";
import { maxOutputTokens } from "../holds/most-used.ts";
import { promptBytes } from "./estimate.ts";

/** Request members needed for accounting. */
export interface ModelRequest {
  /** Body length in bytes; 0 if unknown. */
  readonly bytes: number;
  readonly model: string | undefined;
  readonly stream: boolean;
  /** Prompt size in bytes of text; `undefined` if the body could not be read. */
  readonly promptBytes: number | undefined;
  /** Parsed body; `undefined` if unreadable, too large or too deep to store. */
  readonly inputs: Readonly<Record<string, unknown>> | undefined;
  readonly userId: string | undefined;
  readonly mayRunOn: boolean;
  /** Body with `include_usage` added; `undefined` if it can be relayed unchanged. */
  readonly withIncludeUsage: Buffer | undefined;
}

/** Larger bodies are parsed, but not stored. */
const MAX_INPUT_BYTES = 1024 * 1024;
/** Keeping all digits of 64-bit integers costs a microsecond per value, so larger bodies are parsed with doubles. */
const MAX_EXACT_BYTES = 64 * 1024;

/** Bodies with more values and keys are relayed unparsed: parsing would block the event loop for over 70 ms. */
const MAX_VALUES = 150_000;
/** Shorter bodies are not counted. */
const UNCOUNTED_BYTES = 64 * 1024;

/** False if a body cannot request a stream: it contains neither the key nor an escape that could spell it. */
export function mayStream(body: Buffer): boolean {
  return body.includes("stream") || body.includes(String.raw`\u`);
}

/** Parses a model request. `asks`: the endpoint reports stream usage only on request. Cost: about 10 ms per MB. */
export function readModelRequest(body: Buffer, asks = true): ModelRequest {
  if (body.length > UNCOUNTED_BYTES && countValues(body, MAX_VALUES) > MAX_VALUES)
    return unreadModelRequest(body.length);
  try {
    const text = body.toString("utf8");
    const parsed: unknown = body.length <= MAX_EXACT_BYTES ? parseJson(text) : parseJsonText(text);
    if (!isJsonObject(parsed)) return unreadModelRequest(body.length);
    const stream = parsed["stream"] === true;
    return {
      bytes: body.length,
      model: typeof parsed["model"] === "string" ? parsed["model"] : undefined,
      stream,
      promptBytes: promptBytes(parsed),
      inputs: body.length <= MAX_INPUT_BYTES && !isTooDeep(parsed) ? parsed : undefined,
      userId: userOf(parsed),
      mayRunOn: parsed["background"] === true,
      withIncludeUsage: stream && asks && !("stream_options" in parsed) ? withUsage(body) : undefined,
    };
  } catch {
    return unreadModelRequest(body.length);
  }
}

const ASKS_FOR_USAGE = Buffer.from('"stream_options":{"include_usage":true},');

/** Asks for the usage of a stream in a JSON object that is not empty. */
function withUsage(body: Buffer): Buffer {
  const at = body.indexOf("{") + 1;
  return Buffer.concat([body.subarray(0, at), ASKS_FOR_USAGE, body.subarray(at)]);
}

/** Returns the user that a request names. */
export function userOf({
  metadata,
  user,
  safety_identifier: safety,
}: Readonly<Record<string, unknown>>): string | undefined {
  const named = [isJsonObject(metadata) ? metadata["user_id"] : undefined, user, safety];
  const found = named.find(
    (id): id is string => typeof id === "string" && id !== "" && id.length <= MAX_USER_LENGTH,
  );
  return found && withoutSession(found);
}

const MAX_USER_LENGTH = 1024;
/** User id of Claude Code before it sent JSON. */
const OF_SESSION = /^user_(?<device_id>[0-9a-f]+)_account_(?<account_uuid>[0-9a-f-]*)_session_[0-9a-f-]+$/;

/** Returns account or installation of a Claude Code user id, which also names the session. */
function withoutSession(id: string): string {
  const parts = OF_SESSION.exec(id)?.groups ?? parseOrUndefined(id);
  if (!isJsonObject(parts)) return id;
  const { account_uuid: account, device_id: device } = parts;
  return [account, device].find((one): one is string => typeof one === "string" && one !== "") ?? id;
}

/** Returns the request of a body that is not parsed: too large, compressed or invalid. */
export function unreadModelRequest(bytes: number): ModelRequest {
  return {
    bytes,
    model: undefined,
    stream: false,
    promptBytes: undefined,
    inputs: undefined,
    userId: undefined,
    mayRunOn: true,
    withIncludeUsage: undefined,
  };
}

/** Inputs of larger bodies are parsed again when needed, to bound memory per open stream. */
const MAX_HELD_BYTES = 64 * 1024;

interface Facts extends Omit<ModelRequest, "withIncludeUsage"> {
  readonly hasInputs: boolean;
  /** In tokens; undefined without a maximum. */
  readonly maxOutput: number | undefined;
}

/** Model request, parsed on first use. */
export class LazyRequest {
  readonly #path: string;
  readonly #read: () => ModelRequest;
  #facts: Facts | undefined;

  /** `path`: of the endpoint. */
  constructor(path: string, read: () => ModelRequest) {
    this.#path = path;
    this.#read = read;
  }

  /** The request, without inputs that are too large to hold. */
  get facts() {
    if (this.#facts !== undefined) return this.#facts;
    const { inputs, withIncludeUsage: _, ...facts } = this.#read();
    const held = facts.bytes <= MAX_HELD_BYTES ? inputs : undefined;
    const maxOutput = inputs && maxOutputTokens(this.#path, inputs);
    return (this.#facts = { ...facts, inputs: held, hasInputs: inputs !== undefined, maxOutput });
  }

  /** Returns the inputs; `undefined` if unreadable or too large to store. */
  inputs(): ModelRequest["inputs"] {
    const { hasInputs, inputs } = this.facts;
    return hasInputs ? (inputs ?? this.#read().inputs) : undefined;
  }
}
