import type { FastifyRequest } from "fastify";
import { isProjectId, onlyProjectOf, type Grant } from "../http/auth/grant.ts";
import { headerText } from "../http/header-text.ts";
import { AppError, invalid } from "../shared/errors.ts";
import { isExactInteger, isJsonObject, stringifyJson } from "../shared/json.ts";
import type { Project } from "../shared/project.ts";
import type { UnrecordedReason } from "./metrics.ts";

type Named =
  | { readonly project: Project }
  | { readonly project: undefined; readonly reason: UnrecordedReason };

/** Returns the project that a request names, or that of its key, or the reason there is none. Throws forbidden. */
export function projectOf(request: FastifyRequest): Named {
  const named = request.headers["x-sumtree-project"] ?? request.headers["openai-project"];
  const name = typeof named === "string" ? headerText(named) : "";
  if (isProjectId(name)) return { project: request.grant.project(name) };
  // SDKs send OpenAI's own project ids in the same header
  const project = onlyProjectOf(request.grant);
  if (project !== undefined) return { project };
  return { project, reason: name === "" ? "no_project" : "not_a_project" };
}

// The upstream acts with the operator's key, so a client could reach any of its projects by name.

const HEADERS = ["x-sumtree-project", "openai-project"];
const PROJECTS = ["project", "project_id", "project_name"];
const ENTITIES = ["entity", "entity_name"];
/** Members of queries and bodies that name a project. */
export const PROJECT_MEMBERS = [...PROJECTS, ...ENTITIES];

/**
 * Checks project names in headers and query. Throws bad_request if headers name different projects; forbidden; validation.
 */
export async function checkNamedProjects({ raw, headers, url, grant }: FastifyRequest): Promise<void> {
  if (HEADERS.some((name) => headers[name] !== undefined)) checkHeaders(grant, raw.headersDistinct);
  if (!url.includes("?")) return;
  checkMembers(
    grant,
    "query",
    queryOf(url).filter(([, text]) => text !== ""),
  );
}

export function queryOf(url: string): readonly [name: string, text: string][] {
  return [...new URLSearchParams(url.split("?").slice(1).join("?"))];
}

function checkHeaders(grant: Grant, headers: NodeJS.Dict<string[]>): void {
  const sent = HEADERS.map((name) => headers[name] ?? []);
  const named = sent.flat().map(headerText);
  // a name without a slash is the provider's own id
  if (!named.every((name) => !name.includes("/") || mayName(grant, name)))
    throw new AppError("forbidden", "This key may not use that project.");
  if (sent.some((values) => values.length > 1) || new Set(named.filter(isProjectId)).size > 1)
    throw new AppError("bad_request", "The request headers name more than one project.");
}

/**
 * Checks project names in a training request body. Returns the project that it names, if the key may use it. Throws
 * validation.
 */
export function checkNamedInBody(grant: Grant, body: unknown): Project | undefined {
  if (!isJsonObject(body)) return undefined;
  const texts = Object.entries(body).filter(
    (member): member is [string, string] => typeof member[1] === "string",
  );
  checkMembers(grant, "body", texts);
  for (const { name, text } of grant.covers("*") ? [] : textsIn(body)) {
    checkArtifact(grant, ["body", name], text);
    // an artifact without its scheme
    const [, project] = /^([^/]+\/[^/]+)\/[^/]+$/.exec(text) ?? [];
    if (name === "kl_ref_adapter_path" && project !== undefined) check(grant, ["body", name], project);
  }
  const [project = ""] = valuesOf(texts, PROJECTS);
  const [entity = grant.entity ?? ""] = valuesOf(texts, ENTITIES);
  const name = project.includes("/") ? project : `${entity}/${project}`;
  return isProjectId(name) && grant.covers(name) ? grant.project(name) : undefined;
}

type Texts = readonly (readonly [name: string, text: string])[];

function valuesOf(texts: Texts, names: readonly string[]): readonly string[] {
  return names.flatMap((name) => texts.flatMap(([of, text]) => (of === name ? [text] : [])));
}

/** Checks every project with every entity. */
function checkMembers(grant: Grant, where: string, texts: Texts): void {
  if (grant.covers("*")) return;
  const entities = valuesOf(texts, ENTITIES);
  for (const entity of entities) check(grant, [where, "entity"], `${entity}/*`);
  for (const project of valuesOf(texts, PROJECTS))
    for (const entity of entities.length === 0 ? ["*"] : entities)
      check(grant, [where, "project"], project.includes("/") ? project : `${entity}/${project}`);
}

/** Checks the project of a W&B artifact URI, such as a model name. Throws validation. */
export function checkArtifact(grant: Grant, loc: readonly string[], text: string | undefined): void {
  if (text === undefined || !/wandb-artifact:/i.test(text)) return;
  const [, project = "/"] = /wandb-artifact:\/{2,3}([^/]+\/[^/]+)\//i.exec(text) ?? [];
  check(grant, loc, project);
}

function check(grant: Grant, loc: readonly string[], project: string): void {
  if (!mayName(grant, project))
    throw invalid([{ loc, msg: "This key may not use that project", type: "forbidden" }]);
}

/** True if a project pattern of the key matches; `*` stands for an unnamed entity or project. */
function mayName(grant: Grant, name: string): boolean {
  const [entity, project, ...others] = name.split("/");
  const fits = (pattern: string): boolean => {
    const [ours, own = "*"] = pattern.split("/");
    return (entity === "*" || ours === entity) && (project === "*" || own === "*" || own === project);
  };
  return grant.covers("*") || (others.length === 0 && grant.key.projects.some(fits));
}

/** Iterates over the texts and numbers of a JSON value at any depth. Items of a list have the list's name. */
export function* textsIn(value: unknown): Generator<{ readonly name: string; readonly text: string }> {
  const left: (readonly [name: string, value: unknown])[] = [["", value]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [name, one] = next;
    const text = textOf(one);
    if (text !== undefined) yield { name, text };
    else if (typeof one === "object" && one !== null)
      for (const [key, member] of Object.entries(one)) left.push([Array.isArray(one) ? name : key, member]);
  }
}

export function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || isExactInteger(value) ? stringifyJson(value) : undefined;
}
