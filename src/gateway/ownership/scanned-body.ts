import type { FastifyRequest } from "fastify";
import { turn } from "../../fairness/turns.ts";
import { AppError } from "../../shared/errors.ts";
import { isJsonObject } from "../../shared/json.ts";
import { decompressBody } from "../decompress-body.ts";
import { parseOrUndefined } from "../parse-or-undefined.ts";
import { encodingsOf } from "../recording/response-decoder.ts";
import { checkDeclaredLength, hasBody, readBody, startUpload, type UploadOptions } from "../relay/upload.ts";
import type { UpstreamRequest } from "../relay/upstream.ts";
import { facts } from "../stream/capture-rules.ts";
import { JsonProjector } from "../stream/json-projector.ts";

/** Members of a training body that can name resources and projects. */
const NAMES = (
  "id model_id job_id training_job_id checkpoint_id model base_model project project_id project_name entity entity_name " +
  "config experimental_config training_data_url"
).split(" ");

/** Bodies up to this length are checked before any of it is sent, longer ones as far as this. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;

export interface BodyScanOptions {
  /** A body of a known route: other members, such as trajectories, name nothing, and are skipped. */
  readonly isKnown: boolean;
  /** Rejects for members that are not allowed. */
  readonly check: (body: unknown, isWhole: boolean) => Promise<void>;
}

/**
 * Returns a JSON body for the upstream, whose named members pass `check`. A long body is streamed; if a later member is
 * rejected, the upstream never has its end. Errors: bad_request; those of `check`; unsupported_media_type for a long or
 * unreadable compressed body.
 */
export async function scannedBody(
  request: FastifyRequest,
  limits: UploadOptions,
  { isKnown, check }: BodyScanOptions,
): Promise<UpstreamRequest["body"]> {
  checkDeclaredLength(request.raw, limits.limitBytes);
  if (!hasBody(request.raw)) {
    await check({}, true);
    return null;
  }
  const read = await readBody(request.raw, Math.min(MAX_HELD_BYTES, limits.limitBytes), limits);
  const encodings = encodingsOf(request.headers["content-encoding"]);
  if (read.complete) {
    const plain = decompressBody(encodings, read.bytes, MAX_HELD_BYTES);
    if (plain === undefined) throw unreadable();
    await check((await scan([plain], isKnown)).finish(), true);
    return read.bytes;
  }
  if (encodings.length > 0) throw unreadable();
  await check((await scan(read.prefix, isKnown)).soFar(), false);
  const whole = new BodyScan(isKnown);
  return startUpload(request.raw, {
    ...limits,
    prefix: read.prefix,
    check: { push: (chunk) => whole.push(chunk), finish: async () => check(whole.finish(), true) },
  });
}

function unreadable(): AppError {
  const limit = `${MAX_HELD_BYTES} bytes`;
  return new AppError("unsupported_media_type", `A compressed body may have ${limit} decompressed.`);
}

const STEP_BYTES = 256 * 1024;

async function scan(parts: readonly Buffer[], isKnown: boolean): Promise<BodyScan> {
  const found = new BodyScan(isKnown);
  for (const part of parts) {
    for (let at = 0; at < part.length; at += STEP_BYTES) {
      if (at > 0) await turn();
      found.push(part.subarray(at, at + STEP_BYTES));
    }
  }
  return found;
}

class BodyScan {
  readonly #projector: JsonProjector;
  readonly #isKnown: boolean;

  constructor(isKnown: boolean) {
    this.#isKnown = isKnown;
    this.#projector = new JsonProjector(facts(NAMES, { withOthers: !isKnown }));
  }

  push(chunk: Buffer): void {
    this.#projector.push(chunk);
  }

  /** Returns the named members of the whole body. Throws bad_request. */
  finish(): unknown {
    const { isComplete } = this.#projector;
    const { json, isPartial } = this.#projector.finish();
    const body = parseOrUndefined(json);
    if (!isComplete || !isJsonObject(body))
      throw new AppError("bad_request", "The body is not a JSON object.");
    if (isPartial && this.#isKnown)
      throw new AppError("bad_request", "A name or value in the body is too long.");
    return body;
  }

  /** Returns the members that have been read. */
  soFar(): unknown {
    return parseOrUndefined(this.#projector.finish().json) ?? {};
  }
}
