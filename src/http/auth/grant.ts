import { AppError, invalid } from "../../shared/errors.ts";
import type { Tenant } from "../../fairness/tenant.ts";
import type { Project } from "../../shared/project.ts";
import { hasScope, mayUse, ROOT_ID, type ApiKey, type Scope } from "./api-key.ts";

const PROJECT_FORM = /^[^/\s\p{Cc}]{1,128}\/[^/\p{Cc}]{1,128}$/u;

/** True for a project pattern: `*`, `entity/*` or `entity/project`. */
export function isProjectPattern(text: string): boolean {
  return text === "*" || PROJECT_FORM.test(text);
}

/** True if a text has the form `entity/project`. */
export function isProjectId(text: string): boolean {
  return PROJECT_FORM.test(text);
}

/** Permissions of a request's key. */
export interface Grant {
  readonly keyId: string;
  /** True for the root key. */
  readonly isRoot: boolean;
  /** Tenant whose limits its requests use. */
  readonly tenant: Tenant;
  /** The key's record, without its hash. */
  readonly key: Omit<ApiKey, "secretHash">;
  has(scope: Scope): boolean;
  /** True if this key covers all projects of a pattern. */
  covers(pattern: string): boolean;
  /** Entity of the key; undefined if it covers several or all. */
  readonly entity: string | undefined;
  /**
   * Converts a project id that the key may use to a `Project`; there is no other way to one. Throws `validation` at `loc` if it
   * is not `entity/project`, `forbidden` if the key does not cover it, whether or not it exists.
   */
  project(projectId: string, loc?: readonly (string | number)[]): Project;
}

const grants = new WeakMap<ApiKey, Grant>();

/** Returns the permissions of a key, the same for each request. */
export function grantOf(key: ApiKey): Grant {
  const grant = grants.get(key) ?? newGrant(key);
  grants.set(key, grant);
  return grant;
}

function newGrant(key: ApiKey): Grant {
  const { secretHash: _, ...facts } = key;
  return {
    keyId: key.id,
    isRoot: key.id === ROOT_ID,
    tenant: { entity: entityOf(key) ?? "*", key: key.id },
    key: facts,
    has: (scope) => hasScope(key, scope),
    covers: (pattern) => mayUse(key, pattern),
    entity: entityOf(key),
    project(projectId, loc = ["body", "project_id"]) {
      if (!isProjectId(projectId)) {
        throw invalid([{ loc, msg: "Input should be entity/project", type: "string_pattern_mismatch" }]);
      }
      if (!mayUse(key, projectId)) throw new AppError("forbidden", "This key may not use that project.");
      return projectId as Project;
    },
  };
}

/** Returns the project of a single-project key. */
export function onlyProjectOf(grant: Grant): Project | undefined {
  const [only = "*", ...others] = new Set(grant.key.projects);
  return others.length > 0 || only.includes("*") ? undefined : grant.project(only);
}

function entityOf({ projects }: ApiKey): string | undefined {
  const entities = new Set(projects.map((pattern) => pattern.split("/", 1)[0]!));
  const [entity] = entities;
  return entities.size === 1 && entity !== "*" ? entity : undefined;
}
