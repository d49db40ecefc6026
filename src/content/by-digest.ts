import type { Grant } from "../http/auth/grant.ts";
import { AppError } from "../shared/errors.ts";
import type { Project } from "../shared/project.ts";

/**
 * Returns the project for reads by digest. Allows keys of scope ingest too: whoever knows a digest has the content, and the
 * SDKs read it back.
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
