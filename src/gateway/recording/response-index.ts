import { LRUCache } from "lru-cache";
import type { FastifyRequest } from "fastify";
import { createHash } from "node:crypto";
import { GATEWAY_ID_START, gatewayId } from "../../calls/events/gateway-id.ts";
import type { Project } from "../../shared/project.ts";
import { projectOf } from "../named-projects.ts";

/** Project and upstream that created a response of the Responses API. */
export interface ResponseMaker {
  readonly project: Project;
  readonly upstream: string;
  /** Prompt size in bytes of text, if this process knows it. */
  readonly promptBytes?: number | undefined;
}

export interface ResponseMakers {
  /** Returns the maker of a response among projects and upstreams. Throws `StorageError`. */
  findMaker(
    projects: readonly Project[],
    responseId: string,
    upstreams: readonly string[],
  ): Promise<ResponseMaker | undefined>;
}

interface Known extends ResponseMaker {
  readonly callId: string;
}

const MAX_KNOWN = 50_000;

/** Finds the makers of responses by id: recent ones in memory, others in the store. */
export class ResponseIndex {
  readonly #known = new LRUCache<string, Known>({ max: MAX_KNOWN });
  readonly #makers: ResponseMakers;
  readonly #upstreams: () => readonly string[];

  /** `upstreams`: names of the upstreams that serve models. */
  constructor(makers: ResponseMakers, upstreams: () => readonly string[]) {
    this.#makers = makers;
    this.#upstreams = upstreams;
  }

  /** Notes a response; returns the id of the call that it was noted for first. */
  note(id: string, known: Known): string {
    const first = this.#known.get(id);
    if (first !== undefined && first.project === known.project && first.upstream === known.upstream)
      return first.callId;
    this.#known.set(id, known);
    return known.callId;
  }

  /** Returns the maker of a response, if it is a project of the request's key. Errors: `StorageError`. */
  async makerFor(request: FastifyRequest, id: string): Promise<ResponseMaker | undefined> {
    const { grant } = request;
    const known = this.#known.get(id);
    if (known !== undefined && grant.covers(known.project)) return known;
    const { project: named } = projectOf(request);
    const own = grant.key.projects.filter((pattern) => !pattern.includes("*"));
    const projects = new Set<Project>(own.map((project) => grant.project(project)));
    if (named !== undefined) projects.add(named);
    return projects.size === 0 ? undefined : this.#makers.findMaker([...projects], id, this.#upstreams());
  }
}

/** Returns the name of a response in the index of calls. No client can store a call under it. */
export function responseKeyName(upstream: string, id: string): string {
  return `${GATEWAY_ID_START}/response/${upstream}/${id}`;
}

/** Derives the id of the call of a response that runs in the background, or that was created elsewhere. */
export function callIdOf({ project, upstream }: ResponseMaker, id: string): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([project, upstream, id]))
    .digest("hex");
  return gatewayId(hash.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"));
}
