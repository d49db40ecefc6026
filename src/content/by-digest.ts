import type { Grant } from "../http/auth/grant.ts";
import { AppError } from "../shared/errors.ts";
import type { Project } from "../shared/project.ts";

/**
 * A digest is only known to those who have the content or may read it. So a key that may only write can read its content
 * back by digest, as the SDKs do.
 */
export function projectByDigest(grant: Grant, projectId: string): Project {
  if (!grant.has("read") && !grant.has("ingest")) {
    throw new AppError("forbidden", "This key has neither the scope read nor the scope ingest.");
  }
  return grant.project(projectId);
}

export function notFound(what: string): AppError {
  return new AppError("not_found", `There is no such ${what}.`);
}
