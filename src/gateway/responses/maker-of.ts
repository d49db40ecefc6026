import type { FastifyRequest } from "fastify";
import type { Project } from "../../shared/project.ts";
import type { Gateway } from "../gateway.ts";
import { projectOf } from "../request-project.ts";
import type { KnownResponses, ResponseMakers } from "./known-responses.ts";

export interface MakerOptions {
  readonly gateway: Gateway;
  readonly responses: KnownResponses;
  readonly makers: ResponseMakers;
}

/** Returns the upstream that made a response, if a project of the request's key did. Errors: `StorageError`. */
export async function makerOf(
  request: FastifyRequest,
  id: string,
  { gateway, responses, makers }: MakerOptions,
): Promise<string | undefined> {
  const { grant } = request;
  const known = responses.get(id);
  if (known !== undefined && grant.covers(known.recorded.project)) return known.upstream;
  const { project: named } = projectOf(request);
  const own = grant.key.projects.filter((pattern) => !pattern.includes("*"));
  const projects = new Set<Project>(own.map((project) => grant.project(project)));
  if (named !== undefined) projects.add(named);
  const names = gateway.upstreams.modelTargets.map(({ name }) => name);
  return projects.size === 0 ? undefined : makers.findMaker([...projects], id, names);
}
