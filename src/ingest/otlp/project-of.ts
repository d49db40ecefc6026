import type { IncomingHttpHeaders } from "node:http";
import { onlyProjectOf, type Grant } from "../../http/auth/grant.ts";
import { headerText } from "../../http/header-text.ts";
import { invalid } from "../../shared/errors.ts";
import type { Project } from "../../shared/project.ts";
import { textOf, type Attributes } from "./attributes.ts";

/**
 * Resolves the project of what a resource sent: the resource names it, else the request, else the key covers no other. Errors:
 * validation, if none does; forbidden.
 */
export function projectOf(resource: Attributes, headers: IncomingHttpHeaders, grant: Grant): Project {
  const named = namedBy(resource);
  if (named !== undefined) return grant.project(named, ["body", "resource"]);
  // proxies drop header names with an underscore
  const header = headers["project_id"] ?? headers["x-project-id"];
  if (typeof header === "string") return grant.project(headerText(header), ["header", "project_id"]);
  const only = onlyProjectOf(grant);
  if (only !== undefined) return only;
  throw invalid([
    {
      loc: ["body", "resource"],
      msg: "Name the project: resource attributes wandb.entity and wandb.project, or sumtree.project, or the header project_id, or use a key of one project",
      type: "missing",
    },
  ]);
}

function namedBy(resource: Attributes): string | undefined {
  const entity = textOf(resource.get("wandb.entity"));
  const project = textOf(resource.get("wandb.project"));
  if (entity !== null && project !== null) return `${entity}/${project}`;
  return textOf(resource.get("sumtree.project")) ?? undefined;
}
