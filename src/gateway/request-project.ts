import type { FastifyRequest } from "fastify";
import { isProjectId } from "../http/auth/grant.ts";
import { headerText } from "../http/header-text.ts";
import type { Project } from "../shared/project.ts";
import type { UnrecordedReason } from "./metrics.ts";

type Named =
  | { readonly project: Project }
  | { readonly project: undefined; readonly reason: UnrecordedReason };

/** Returns the project that a request names, or that of its key, or the reason there is none. Throws forbidden. */
export function projectOf(request: FastifyRequest): Named {
  const named = request.headers["x-sumtree-project"] ?? request.headers["openai-project"];
  const name = typeof named === "string" ? headerText(named) : "";
  const project = name === "" ? onlyProjectOf(request) : undefined;
  if (project !== undefined) return { project };
  // SDKs send OpenAI's own project ids in the same header
  if (!isProjectId(name)) return { project, reason: name === "" ? "no_project" : "not_a_project" };
  return { project: request.grant.project(name) };
}

/** Returns the project of a single-project key. */
export function onlyProjectOf({ grant }: FastifyRequest): Project | undefined {
  const [only = "*", ...others] = new Set(grant.key.projects);
  return others.length > 0 || only.includes("*") ? undefined : grant.project(only);
}
