import { isJsonObject, isTooDeep, parseJson } from "../shared/json.ts";
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
  /** The body as sent, parsed; undefined when it could not be read. */
  readonly inputs: Readonly<Record<string, unknown>> | undefined;
  /** The body that asks for usage too; undefined when it can go as it is. */
  readonly asking: Buffer | undefined;
}

/** Reads a chat request. A body that is not JSON is the upstream's to refuse. */
export function readChatRequest(body: Buffer): ChatRequest {
  let parsed: unknown;
  try {
    parsed = parseJson(body.toString("utf8"));
  } catch {
    return unreadChatRequest(body.length);
  }
  if (!isJsonObject(parsed) || isTooDeep(parsed)) return unreadChatRequest(body.length);
  const stream = parsed["stream"] === true;
  return {
    bytes: body.length,
    model: typeof parsed["model"] === "string" ? parsed["model"] : undefined,
    stream,
    promptBytes: promptTextBytes(parsed),
    inputs: parsed,
    asking: stream ? askForUsage(body, parsed) : undefined,
  };
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
