import type { FastifyRequest } from "fastify";
import { isProjectId, type Grant } from "../http/auth/grant.ts";
import { headerText } from "../http/header-text.ts";
import { AppError, invalid } from "../shared/errors.ts";
import { isJsonObject } from "../shared/json.ts";
import type { Project } from "../shared/project.ts";
import { textsIn } from "./ownership/resource-ids.ts";

/*
 * The upstream acts with the operator's key, so a client could reach any of its projects by name. Project names in requests
 * are therefore checked against the client's key.
 */

const HEADERS = ["x-sumtree-project", "openai-project"];
const PROJECTS = ["project", "project_id", "project_name"];
const ENTITIES = ["entity", "entity_name"];

/**
 * Checks project names in headers and query. Throws bad_request if headers name different projects; forbidden; validation.
 */
export async function checkNamedProjects({ raw, url, grant }: FastifyRequest): Promise<void> {
  const sent = HEADERS.map((name) => valuesOfHeader(raw.rawHeaders, name));
  const named = sent.flat().map(headerText);
  // a name without a slash is the provider's own id
  if (!named.every((name) => !name.includes("/") || mayName(grant, name)))
    throw new AppError("forbidden", "This key may not use that project.");
  if (sent.some((values) => values.length > 1) || new Set(named.filter(isProjectId)).size > 1)
    throw new AppError("bad_request", "The request headers name more than one project.");
  if (grant.covers("*")) return;
  const query = new URLSearchParams(url.split("?").slice(1).join("?"));
  const valuesOf = (names: readonly string[]): readonly (string | undefined)[] => {
    const values = new Set(names.flatMap((name) => query.getAll(name)).filter((value) => value !== ""));
    return values.size === 0 ? [undefined] : [...values];
  };
  for (const project of valuesOf(PROJECTS))
    for (const entity of valuesOf(ENTITIES)) check(grant, ["query", "project"], { project, entity });
}

function valuesOfHeader(raw: readonly string[], name: string): readonly string[] {
  return raw.filter((_value, at) => at % 2 === 1 && raw[at - 1]!.toLowerCase() === name);
}

/** Checks project names in a training request body. Throws validation. */
export function checkNamedInBody(grant: Grant, body: unknown): void {
  if (!isJsonObject(body)) return;
  const texts = Object.entries(body).filter(
    (member): member is [string, string] => typeof member[1] === "string",
  );
  const [entity] = texts.flatMap(([name, text]) => (ENTITIES.includes(name) ? [text] : []));
  if (entity !== undefined) check(grant, ["body", "entity"], { entity });
  for (const [name, text] of texts) {
    if (PROJECTS.includes(name)) check(grant, ["body", name], { project: text, entity });
  }
  if (grant.covers("*")) return;
  for (const { name, text } of textsIn(body)) {
    checkArtifact(grant, ["body", name], text);
    // an artifact without its scheme
    const [, project] = /^([^/]+\/[^/]+)\/[^/]+$/.exec(text) ?? [];
    if (name === "kl_ref_adapter_path" && project !== undefined) check(grant, ["body", name], { project });
  }
}

/** Returns the project that a training request body names, if the key may use it. */
export function projectNamedInBody(grant: Grant, body: unknown): Project | undefined {
  if (!isJsonObject(body)) return undefined;
  const first = (names: readonly string[]): string | undefined =>
    names.map((name) => body[name]).find((value) => typeof value === "string");
  const project = first(PROJECTS) ?? "";
  const name = project.includes("/") ? project : `${first(ENTITIES) ?? grant.entity ?? ""}/${project}`;
  return isProjectId(name) && grant.covers(name) ? grant.project(name) : undefined;
}

/** Checks the project of a W&B artifact URI, such as a model name. Throws validation. */
export function checkArtifact(grant: Grant, loc: readonly string[], text: string | undefined): void {
  if (text === undefined || !/wandb-artifact:/i.test(text)) return;
  const [, project = "/"] = /wandb-artifact:\/{2,3}([^/]+\/[^/]+)\//i.exec(text) ?? [];
  check(grant, loc, { project });
}

interface Named {
  readonly project?: string | undefined;
  readonly entity?: string | undefined;
}

function check(grant: Grant, loc: readonly string[], { project, entity }: Named): void {
  const name = project?.includes("/") === true ? project : `${entity ?? "*"}/${project ?? "*"}`;
  const fits = mayName(grant, name) && (entity === undefined || mayName(grant, `${entity}/*`));
  if (!fits) throw invalid([{ loc, msg: "This key may not use that project", type: "forbidden" }]);
}

/** True if a project pattern of the key matches; `*` stands for an unnamed entity or project. */
function mayName(grant: Grant, name: string): boolean {
  const [entity, project, ...others] = name.split("/");
  return grant.key.projects.some((pattern) => {
    const [ours, own = "*"] = pattern.split("/");
    if (pattern === "*") return true;
    return (
      others.length === 0 &&
      (entity === "*" || ours === entity) &&
      (project === "*" || own === "*" || own === project)
    );
  });
}
