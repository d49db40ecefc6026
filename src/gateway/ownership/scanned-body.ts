import type { FastifyRequest } from "fastify";
import { turn } from "../../fairness/turns.ts";
import { AppError } from "../../shared/errors.ts";
import { decompressBody } from "../decompress-body.ts";
import { JsonScan } from "../json-scan.ts";
import { encodingsOf } from "../recording/response-decoder.ts";
import {
  checkDeclaredLength,
  contentLengthOf,
  hasBody,
  readBody,
  startUpload,
  type UploadOptions,
} from "../relay/upload.ts";
import type { UpstreamRequest } from "../relay/upstream.ts";

/** Members of a training body that can name resources and projects. Others, such as trajectories, are skipped. */
const NAMES = (
  "id model_id job_id training_job_id checkpoint_id model base_model project project_id project_name entity entity_name " +
  "config experimental_config training_data_url"
).split(" ");

/** Bodies up to this length are checked before any of it is sent; of others, the first part is. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;
const FIRST_BYTES = 256 * 1024;

/**
 * Returns a JSON body for the upstream, whose named members pass `check`. A long body is streamed; if a later member is
 * rejected, the upstream never has its end. Errors: bad_request; those of `check`; unsupported_media_type for a long or
 * unreadable compressed body.
 */
export async function scannedBody(
  request: FastifyRequest,
  limits: UploadOptions,
  check: (body: unknown, isWhole: boolean) => Promise<void>,
): Promise<UpstreamRequest["body"]> {
  checkDeclaredLength(request.raw, limits.limitBytes);
  if (!hasBody(request.raw)) {
    await check({}, true);
    return null;
  }
  const isShort = (contentLengthOf(request.raw) ?? Infinity) <= MAX_HELD_BYTES;
  const read = await readBody(request.raw, isShort ? MAX_HELD_BYTES : FIRST_BYTES, limits);
  const encodings = encodingsOf(request.headers["content-encoding"]);
  if (read.complete) {
    const plain = decompressBody(encodings, read.bytes, MAX_HELD_BYTES);
    if (plain === undefined) throw unreadable();
    await check(membersOf(await scan([plain])), true);
    return read.bytes;
  }
  if (encodings.length > 0) throw unreadable();
  await check((await scan(read.prefix)).members ?? {}, false);
  const whole = new JsonScan(NAMES);
  const finish = async (): Promise<void> => check(membersOf(whole), true);
  const later = { push: (chunk: Buffer) => whole.push(chunk), finish };
  return startUpload(request.raw, { ...limits, prefix: read.prefix, check: later });
}

function unreadable(): AppError {
  const limit = `${MAX_HELD_BYTES} bytes`;
  return new AppError("unsupported_media_type", `A compressed body may have ${limit} decompressed.`);
}

const STEP_BYTES = 256 * 1024;

async function scan(parts: readonly Buffer[]): Promise<JsonScan> {
  const read = new JsonScan(NAMES);
  for (const part of parts) {
    for (let at = 0; at < part.length; at += STEP_BYTES) {
      if (at > 0) await turn();
      read.push(part.subarray(at, at + STEP_BYTES));
    }
  }
  return read;
}

/** Returns the named members of a whole body. Throws bad_request. */
function membersOf({ isWhole, members }: JsonScan): unknown {
  if (isWhole && members !== undefined) return members;
  throw new AppError("bad_request", "The body is not a JSON object, or a member of it is too long.");
}
