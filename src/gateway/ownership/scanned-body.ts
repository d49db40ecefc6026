import type { FastifyRequest } from "fastify";
import { turn } from "../../fairness/turns.ts";
import { AppError, invalid } from "../../shared/errors.ts";
import { decompressBody, encodingIn } from "../decompress-body.ts";
import { JsonScan } from "../json-scan.ts";
import type { JobCreation } from "../job-creation.ts";
import * as upload from "../relay/upload.ts";
import type { UpstreamRequest } from "../relay/upstream.ts";
import { RESOURCE_NAMES, USER_NAMES } from "./scanned-names.ts";

/** Bodies up to this length are checked before any of it is sent; of others, the first part is. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;
const STEP_BYTES = 256 * 1024;

export interface ScannedBodyOptions {
  readonly check: (body: unknown, isWhole: boolean) => Promise<void>;
  readonly job: JobCreation | undefined;
}

/**
 * Returns a JSON body for the upstream, whose named members pass `check`. A long body is streamed; if a later member is
 * rejected, the upstream never has its end. Errors: bad_request; those of `check`; unsupported_media_type for a long or
 * unreadable compressed body.
 */
export async function scannedBody(
  { raw, headers }: FastifyRequest,
  limits: upload.UploadOptions,
  { check, job }: ScannedBodyOptions,
): Promise<UpstreamRequest["body"]> {
  if (!upload.hasBody(raw)) throw invalid([{ loc: ["body"], msg: "Field required", type: "missing" }]);
  upload.checkDeclaredLength(raw, limits.limitBytes);
  const scan = new JsonScan(RESOURCE_NAMES, job === undefined ? [] : USER_NAMES);
  job?.readBy(() => scan.members);
  const push = (chunk: Buffer): void => scan.push(chunk);
  const finish = async (): Promise<void> => {
    if (scan.isWhole) return check(scan.pick(RESOURCE_NAMES), true);
    throw new AppError("bad_request", "The body is not a JSON object, or a member of it is too long.");
  };
  const isShort = (upload.contentLengthOf(raw) ?? Infinity) <= MAX_HELD_BYTES;
  const read = await upload.readBody(raw, isShort ? MAX_HELD_BYTES : STEP_BYTES, limits);
  const encoding = headers["content-encoding"];
  const plain = read.complete ? decompressBody(encoding, read.bytes, MAX_HELD_BYTES) : undefined;
  if (read.complete ? plain === undefined : encodingIn(encoding) !== undefined)
    throw new AppError("unsupported_media_type", "A body of over 8 MiB cannot be compressed.");
  if (read.complete) {
    for (let at = 0; at < plain!.length; at += STEP_BYTES) {
      if (at > 0) await turn();
      push(plain!.subarray(at, at + STEP_BYTES));
    }
    await finish();
    return read.bytes;
  }
  const first = new JsonScan(RESOURCE_NAMES);
  for (const part of read.prefix) first.push(part);
  await check(first.members ?? {}, false);
  return upload.startUpload(raw, {
    ...limits,
    prefix: read.prefix,
    check: { push, finish: job?.finishing(finish) ?? finish },
  });
}

/** Rejects a body where the interface has none. Errors: validation. */
export async function noBody({ raw }: FastifyRequest, limits: upload.UploadOptions): Promise<null> {
  if (!upload.hasBody(raw) || (await upload.readBody(raw, 0, limits)).complete) return null;
  throw invalid([{ loc: ["body"], msg: "The interface has no body here", type: "extra_forbidden" }]);
}
