import type { FastifyRequest } from "fastify";
import { AppError, invalid } from "../shared/errors.ts";

export interface Upload {
  readonly projectId: string;
  readonly content: Buffer;
}

/**
 * Reads a form of a `project_id` and a `file`, in any order. Errors: unsupported_media_type; bad_request, when it is no form;
 * validation; too large.
 */
export async function readUpload(request: FastifyRequest): Promise<Upload> {
  if (!request.isMultipart()) {
    throw new AppError("unsupported_media_type", "This route takes multipart/form-data.");
  }
  const read = Promise.race([readForm(request), request.server.bodies.failure(request)]);
  const { projectId, content } = await read.catch((error: unknown) => {
    // the parser's own errors have a status; those of the parser beneath it are plain
    if (error instanceof AppError || (error instanceof Error && "statusCode" in error)) throw error;
    throw new AppError("bad_request", "The body is not a form as its Content-Type says.", { cause: error });
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
