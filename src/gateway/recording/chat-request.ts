import { parseJsonText } from "../../shared/escaped-keys.ts";
import { isJsonObject, isTooDeep, parseJson } from "../../shared/json.ts";
import { askForUsage } from "./include-usage.ts";
import { promptTextBytes } from "./estimate.ts";

/** What a chat request says, as far as its accounting needs it. */
export interface ChatRequest {
  /** Length of the body; 0 when it is not known. */
  readonly bytes: number;
  readonly model: string | undefined;
  readonly stream: boolean;
  /** Bytes of prompt text; undefined when the body could not be read. */
  readonly promptBytes: number | undefined;
  /** The body as sent, parsed; undefined when it could not be read, or is too large or too deep to be kept. */
  readonly inputs: Readonly<Record<string, unknown>> | undefined;
  /** The body that asks for usage too; undefined when it can go as it is. */
  readonly asking: Buffer | undefined;
}

/** Larger bodies are not kept, only read. */
const MAX_INPUT_BYTES = 1024 * 1024;
/** Keeping all digits of 64-bit numbers costs a microsecond per value: in larger bodies they are kept as doubles. */
const MAX_EXACT_BYTES = 64 * 1024;

/** False when a body surely does not ask for a stream: its key is nowhere, nor anything that could spell it. */
export function mayStream(body: Buffer): boolean {
  return body.includes("stream") || body.includes(String.raw`\u`);
}

/** Reads a chat request. A body that is not JSON is the upstream's to refuse. Cost: 10 ms per megabyte, rarely more. */
export function readChatRequest(body: Buffer): ChatRequest {
  try {
    const text = body.toString("utf8");
    const parsed: unknown = body.length <= MAX_EXACT_BYTES ? parseJson(text) : parseJsonText(text);
    if (!isJsonObject(parsed)) return unreadChatRequest(body.length);
    const stream = parsed["stream"] === true;
    return {
      bytes: body.length,
      model: typeof parsed["model"] === "string" ? parsed["model"] : undefined,
      stream,
      promptBytes: promptTextBytes(parsed),
      inputs: body.length <= MAX_INPUT_BYTES && !isTooDeep(parsed) ? parsed : undefined,
      asking: stream ? askForUsage(body, parsed) : undefined,
    };
  } catch {
    return unreadChatRequest(body.length);
  }
}

/** Stands for a body that was too large, or packed in a way, to be read on its way. */
export function unreadChatRequest(bytes: number): ChatRequest {
  return {
    bytes,
    model: undefined,
    stream: false,
    promptBytes: undefined,
    inputs: undefined,
    asking: undefined,
  };
}
