import type { Grant } from "../http/auth/grant.ts";
import { AppError } from "../shared/errors.ts";
import type { Project } from "../shared/project.ts";

/**
 * Returns the project for reads by digest. Also allows keys of scope ingest: a client that knows a digest has the content, and the
 * SDKs read it back. Errors: forbidden.
 */
export function projectByDigest(grant: Grant, projectId: string): Project {
  if (!grant.has("read") && !grant.has("ingest")) {
    throw new AppError("forbidden", "This key lacks the scopes read and ingest; one of them is required.");
  }
  return grant.project(projectId);
}

export function notFound(what: string): AppError {
  return new AppError("not_found", `There is no such ${what}.`);
}
