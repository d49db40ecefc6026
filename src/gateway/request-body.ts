import type { FastifyRequest } from "fastify";
import { turn } from "../fairness/turns.ts";
import { JsonScan } from "./json-scan.ts";
import { isForm, readFormRequest } from "./recording/form-request.ts";
import {
  mayStream,
  readModelRequest,
  unreadModelRequest,
  type ModelRequest,
} from "./recording/model-request.ts";
import { decompressBody, encodingIn } from "./decompress-body.ts";
import {
  bodyToSend,
  contentLengthOf,
  hasBody,
  readBody,
  startUpload,
  tooLarge,
  type UploadOptions,
} from "./relay/upload.ts";
import type { UpstreamRequest } from "./relay/upstream.ts";

/** Request body on its way upstream. */
export interface RelayedBody {
  readonly body: UpstreamRequest["body"];
  /** Parses the body; needed only for recording. */
  readonly readRequest: () => ModelRequest;
  /** Reads the model without parsing the rest. */
  readonly readModel: () => string | undefined;
  /** Returns the decompressed body; undefined if it was not read or cannot be decompressed. */
  readonly plain: () => Buffer | undefined;
  /** The response may run on in the background. */
  readonly mayRunOn: () => boolean;
  /** The gateway added `include_usage`; the client did not. */
  readonly hideUsage: boolean;
}

export interface BodyReadOptions {
  readonly limits: UploadOptions;
  readonly settings: { readonly chatBodyLimitBytes: number };
  readonly includeUsage: boolean;
  /** The route depends on the model, so the whole body is read first. */
  readonly needsModel: boolean;
}

/** Longer requests are relayed unparsed: recorded, but without `include_usage`. */
const MAX_READ_BYTES = 4 * 1024 * 1024;
/** Larger bodies are only scanned for their model. */
const MAX_PARSED_BYTES = 64 * 1024;

/** Reads a short body; streams a longer one unread. A compressed body is relayed as is, and a decompressed copy is parsed. */
export async function readOrUpload(
  request: FastifyRequest,
  { limits, settings, includeUsage, needsModel }: BodyReadOptions,
): Promise<RelayedBody> {
  const declared = contentLengthOf(request.raw) ?? 0;
  const maxBytes = needsModel ? settings.chatBodyLimitBytes : MAX_READ_BYTES;
  if (needsModel && declared > maxBytes) throw tooLarge(maxBytes);
  if (!hasBody(request.raw) || declared > maxBytes)
    return unread(await bodyToSend(request.raw, limits), declared);
  const read = await readBody(request.raw, maxBytes, limits);
  if (!read.complete) {
    if (needsModel) throw tooLarge(maxBytes);
    return unread(startUpload(request.raw, { ...limits, prefix: read.prefix }), declared);
  }
  const { bytes } = read;
  const { "content-encoding": encoding, "content-type": type } = request.headers;
  const plain = (): Buffer | undefined => decompressBody(encoding, bytes, maxBytes);
  const isShort = bytes.length <= MAX_READ_BYTES;
  const mayInject = includeUsage && isShort && !isForm(type) && encodingIn(encoding) === undefined;
  const mustRead = mayInject && mayStream(bytes);
  if (mustRead && bytes.length > MAX_PARSED_BYTES) await turn();
  const parsed = mustRead ? readModelRequest(bytes) : undefined;
  const readRequest = (): ModelRequest =>
    parsed ?? (isShort ? parseBody(plain(), type) : undefined) ?? unreadModelRequest(declared);
  return {
    body: parsed?.withIncludeUsage ?? bytes,
    readRequest,
    readModel: () => parsed?.model ?? modelIn(plain(), type),
    plain,
    mayRunOn: () => (plain()?.includes("background") ?? true) && readRequest().mayRunOn,
    hideUsage: parsed?.withIncludeUsage !== undefined,
  };
}

/** A body that passes unread. */
export function unread(body: RelayedBody["body"], bytes: number): RelayedBody {
  return {
    body,
    readRequest: () => unreadModelRequest(bytes),
    readModel: () => undefined,
    plain: () => undefined,
    mayRunOn: () => true,
    hideUsage: false,
  };
}

function parseBody(plain: Buffer | undefined, type: string | undefined): ModelRequest | undefined {
  if (plain === undefined) return undefined;
  return isForm(type) ? readFormRequest(plain, type) : readModelRequest(plain, false);
}

function modelIn(plain: Buffer | undefined, type: string | undefined): string | undefined {
  if (plain === undefined) return undefined;
  if (isForm(type) || plain.length <= MAX_PARSED_BYTES) return parseBody(plain, type)?.model;
  const scan = new JsonScan(["model"]);
  scan.push(plain);
  const model = scan.isWhole ? scan.members?.["model"] : undefined;
  return typeof model === "string" ? model : undefined;
}
