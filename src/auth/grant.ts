import { AppError, invalid } from "../shared/errors.ts";
import type { Project } from "../shared/project.ts";
import { hasScope, mayUseProject, type ApiKey, type Scope } from "./api-key.ts";

const PROJECT_FORM = /^[^/\s\p{Cc}]{1,128}\/[^/\p{Cc}]{1,128}$/u;

/** What the caller of a request has proved to be allowed. */
export interface Grant {
  readonly keyId: string;
  has(scope: Scope): boolean;
  /**
   * The only way to a `Project`. Errors: validation when it is not `entity/project`, at `loc`; forbidden when the
   * key may not use it, whether or not it exists.
   */
  project(projectId: string, loc?: readonly (string | number)[]): Project;
}

export function grantOf(key: ApiKey): Grant {
  return {
    keyId: key.id,
    has: (scope) => hasScope(key, scope),
    project(projectId, loc = ["body", "project_id"]) {
      if (!PROJECT_FORM.test(projectId)) {
        throw invalid([{ loc, msg: "Input should be entity/project", type: "string_pattern_mismatch" }]);
      }
      if (!mayUseProject(key, projectId))
        throw new AppError("forbidden", "This key may not use that project.");
      return projectId as Project;
    },
  };
}
