import type { FastifyRequest } from "fastify";
import { AppError, invalid } from "../shared/errors.ts";

export interface Upload {
  readonly projectId: string;
  readonly content: Buffer;
}

/** Reads a form of a `project_id` and a `file`, in any order. Errors: unsupported_media_type; validation; too large. */
export async function readUpload(request: FastifyRequest): Promise<Upload> {
  if (!request.isMultipart()) {
    throw new AppError("unsupported_media_type", "This route takes multipart/form-data.");
  }
  let projectId: unknown;
  let content: Buffer | undefined;
  for await (const part of request.parts()) {
    if (part.type === "file") content = await part.toBuffer();
    else if (part.fieldname === "project_id") projectId = part.value;
  }
  const missing = [
    ...(typeof projectId === "string" ? [] : ["project_id"]),
    ...(content === undefined ? ["file"] : []),
  ];
  if (typeof projectId === "string" && content !== undefined) return { projectId, content };
  throw invalid(missing.map((name) => ({ loc: ["body", name], msg: "Field required", type: "missing" })));
}
