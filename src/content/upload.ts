import type { FastifyRequest } from "fastify";
import { AppError, invalid } from "../shared/errors.ts";

export interface Upload {
  readonly projectId: string;
  readonly content: Buffer;
}

/**
 * Reads a multipart form with the fields `project_id` and `file`, in any order. Errors: unsupported_media_type; bad_request
 * for a malformed form; validation for missing fields; payload_too_large.
 */
export async function readUpload(request: FastifyRequest): Promise<Upload> {
  if (!request.isMultipart()) {
    throw new AppError("unsupported_media_type", "This route accepts multipart/form-data.");
  }
  const { projectId, content } = await readForm(request).catch((error: unknown) => {
    // errors of @fastify/multipart have a status; those of its parser, busboy, do not
    if (error instanceof AppError || (error instanceof Error && "statusCode" in error)) throw error;
    throw new AppError("bad_request", "The body is not a valid multipart/form-data form.", { cause: error });
  });
  const missing = [
    ...(typeof projectId === "string" ? [] : ["project_id"]),
    ...(content === undefined ? ["file"] : []),
  ];
  if (typeof projectId === "string" && content !== undefined) return { projectId, content };
  throw invalid(missing.map((name) => ({ loc: ["body", name], msg: "Field required", type: "missing" })));
}

async function readForm(
  request: FastifyRequest,
): Promise<{ readonly projectId: unknown; readonly content: Buffer | undefined }> {
  let projectId: unknown;
  let content: Buffer | undefined;
  for await (const part of request.parts()) {
    if (part.type === "file") content = await part.toBuffer();
    else if (part.fieldname === "project_id") projectId = part.value;
  }
  return { projectId, content };
}
