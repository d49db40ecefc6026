import type { FastifyRequest } from "fastify";
import { turn } from "../fairness/turns.ts";
import { parseOrUndefined } from "./parse-or-undefined.ts";
import { isForm, readFormRequest } from "./recording/form-request.ts";
import {
  mayStream,
  readModelRequest,
  unreadModelRequest,
  type ModelRequest,
} from "./recording/model-request.ts";
import { encodingsOf } from "./recording/response-decoder.ts";
import { unpackWhole } from "./unpack-whole.ts";
import {
  bodyToSend,
  contentLengthOf,
  hasBody,
  readBody,
  startUpload,
  type UploadOptions,
} from "./relay/upload.ts";
import type { UpstreamRequest } from "./relay/upstream.ts";
import { fact, object } from "./stream/capture-rules.ts";
import { JsonProjector } from "./stream/json-projector.ts";

/** A request's body on its way upstream. */
export interface AskedBody {
  readonly body: UpstreamRequest["body"];
  /** Parses the body, which only the recording needs. */
  readonly readAsked: () => ModelRequest;
  /** The model that it names, read without the rest of it. */
  readonly readModel: () => string | undefined;
  /** We added the request for usage; the client did not ask. */
  readonly hideUsage: boolean;
}

export interface AskedBodyOptions {
  readonly limits: UploadOptions;
  readonly askForUsage: boolean;
  /** Where the request goes depends on its model, so all of it is read first. */
  readonly needsModel: boolean;
}

/** Longer requests are relayed unread: their completions are recorded, but without asking for usage. */
const MAX_READ_BYTES = 4 * 1024 * 1024;
/** Of larger ones, the model is read without parsing the rest. */
const MAX_PARSED_BYTES = 64 * 1024;

/** Reads the body if it is short enough, else relays it unread. Of a compressed one, a copy is read. */
export async function readOrUpload(
  request: FastifyRequest,
  { limits, askForUsage, needsModel }: AskedBodyOptions,
): Promise<AskedBody> {
  const declared = contentLengthOf(request.raw);
  const unread = { readAsked: () => unreadModelRequest(declared ?? 0), readModel: () => undefined };
  const maxBytes = needsModel ? limits.limitBytes : MAX_READ_BYTES;
  if (!hasBody(request.raw) || (declared ?? 0) > maxBytes) {
    return { body: await bodyToSend(request.raw, limits), ...unread, hideUsage: false };
  }
  const read = await readBody(request.raw, maxBytes, limits);
  if (!read.complete) {
    const body = startUpload(request.raw, { ...limits, prefix: read.prefix });
    return { body, ...unread, hideUsage: false };
  }
  const { bytes } = read;
  const { "content-encoding": encoding, "content-type": type } = request.headers;
  const encodings = encodingsOf(encoding);
  const plain = (): Buffer | undefined =>
    encodings.length === 0 ? bytes : unpackWhole(encodings, bytes, maxBytes);
  const readsForm = isForm(type);
  const isShort = bytes.length <= MAX_READ_BYTES;
  const mayAsk = askForUsage && isShort && !readsForm && encodings.length === 0;
  const mustRead = mayAsk && mayStream(bytes);
  if (mustRead && bytes.length > MAX_PARSED_BYTES) await turn();
  const asked = mustRead ? readModelRequest(bytes) : undefined;
  return {
    body: asked?.asking ?? bytes,
    readAsked: () => asked ?? (isShort ? readOne(plain(), readsForm) : undefined) ?? unread.readAsked(),
    readModel: () => asked?.model ?? modelIn(plain(), readsForm),
    hideUsage: asked?.asking !== undefined,
  };
}

function readOne(plain: Buffer | undefined, isOfForm: boolean): ModelRequest | undefined {
  if (plain === undefined) return undefined;
  return isOfForm ? readFormRequest(plain) : readModelRequest(plain, false);
}

function modelIn(plain: Buffer | undefined, isOfForm: boolean): string | undefined {
  if (plain === undefined) return undefined;
  if (isOfForm || plain.length <= MAX_PARSED_BYTES) return readOne(plain, isOfForm)?.model;
  const sieve = new JsonProjector(object({ model: fact }));
  sieve.push(plain);
  const found = parseOrUndefined(sieve.finish().json) as { readonly model?: unknown } | undefined;
  return typeof found?.model === "string" ? found.model : undefined;
}
