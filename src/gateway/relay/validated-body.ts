import type { IncomingMessage } from "node:http";
import type { z } from "zod";
import { toIssues } from "../../http/schemas/zod-issues.ts";
import { parseJsonText } from "../../shared/escaped-keys.ts";
import { AppError, invalid } from "../../shared/errors.ts";
import { decompress } from "../decompress-body.ts";
import { checkDeclaredLength, hasBody, readBody, tooLarge } from "./upload.ts";

export interface ValidatedBodyOptions {
  readonly schema: z.ZodType;
  readonly limitBytes: number;
  /** Accounts for buffered bytes. Throws service_overloaded. */
  readonly hold: (bytes: number) => void;
  readonly onChunk?: ((chunk: Buffer) => void) | undefined;
  /** Rejects for a body that fits the schema but is invalid otherwise. */
  readonly check: (body: unknown) => Promise<void>;
}

/**
 * Reads and validates a small body; returns its original bytes. Throws payload_too_large, bad_request, validation, and
 * unsupported_media_type for an unknown encoding.
 */
export async function readValidatedBody(
  request: IncomingMessage,
  options: ValidatedBodyOptions,
): Promise<Buffer> {
  const { schema, limitBytes } = options;
  checkDeclaredLength(request, limitBytes);
  if (!hasBody(request)) throw invalid([{ loc: ["body"], msg: "Field required", type: "missing" }]);
  const read = await readBody(request, limitBytes, options);
  if (!read.complete) throw tooLarge(limitBytes);
  const plain = decompress(request.headers["content-encoding"], read.bytes, limitBytes);
  const result = schema.safeParse(parse(plain), { reportInput: true });
  if (!result.success) throw invalid(toIssues(result.error.issues, "body"));
  await options.check(result.data);
  return read.bytes;
}

function parse(body: Buffer): unknown {
  try {
    return parseJsonText(body.toString("utf8"));
  } catch (error) {
    throw new AppError("bad_request", "The body is not valid JSON.", { cause: error });
  }
}
