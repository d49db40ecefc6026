import type { FastifyRequest } from "fastify";
import type { Grant } from "../../http/auth/grant.ts";
import { AppError, invalid } from "../../shared/errors.ts";
import { isJsonObject } from "../../shared/json.ts";
import type { Project } from "../../shared/project.ts";
import { checkNamedInBody, projectNamedInBody } from "../named-projects.ts";
import { pathBehindPrefix } from "../relay/upstream-path.ts";
import { onlyProjectOf, projectOf } from "../request-project.ts";
import { JsonList } from "./json-list.ts";
import type { OwnerLedger } from "./ledger/owner-ledger.ts";
import {
  canonicalId,
  idsInBody,
  idsInTarget,
  isUuid,
  textOf,
  textsIn,
  type NamedId,
} from "./resource-ids.ts";

export interface ResourceRoute {
  /** The response is that of something new. */
  readonly creates: boolean;
  /** The body must name a model. */
  readonly needsModel: boolean;
  /** A route of the gateway; false for paths that only pass. */
  readonly isKnown: boolean;
}

/**
 * Access of one request under `/preview` to models, jobs and other resources of the training service. A key that is not
 * valid for all projects reaches those that the ledger gives to its projects; any other is `not_found`.
 */
export class ResourceAccess {
  readonly #ledger: OwnerLedger;
  readonly #grant: Grant;
  readonly #route: ResourceRoute;
  #owner: Project | undefined;
  /** The path names a resource that the key may use: what is below it belongs to it. */
  #isWithinOwn = false;

  private constructor(request: FastifyRequest, ledger: OwnerLedger, route: ResourceRoute) {
    this.#ledger = ledger;
    this.#grant = request.grant;
    this.#route = route;
    this.#owner = projectOf(request).project ?? onlyProjectOf(request);
  }

  /** Checks path and query. Returns undefined outside `/preview`. Errors: not_found; forbidden; `StorageError`. */
  static async of(
    request: FastifyRequest,
    ledger: OwnerLedger,
    route: ResourceRoute,
  ): Promise<ResourceAccess | undefined> {
    const ids = idsInTarget(pathBehindPrefix(request.url));
    if (ids === undefined) return undefined;
    const access = new ResourceAccess(request, ledger, route);
    if (!access.#seesAll) await access.#checkTarget(ids.path, ids.query);
    return access;
  }

  get #seesAll(): boolean {
    return this.#grant.covers("*");
  }

  /**
   * Checks resources and projects that a body names. Errors: not_found; validation; bad_request if what is created would
   * belong to no project; `StorageError`.
   */
  async checkBody(body: unknown, isWhole = true): Promise<void> {
    checkNamedInBody(this.#grant, body);
    this.#owner ??= projectNamedInBody(this.#grant, body);
    if (this.#seesAll) return;
    const model = isJsonObject(body) ? body["model_id"] : undefined;
    if (isWhole && this.#route.needsModel && typeof model !== "string")
      throw invalid([{ loc: ["body", "model_id"], msg: "Field required", type: "missing" }]);
    const named = idsInBody(textsIn(body));
    const owners = await this.#ledger.find(named.map(({ id }) => id));
    for (const one of named) this.#checkOne(one.kind, owners.get(one.id), one.mustBeKnown);
    if (typeof model === "string") this.#adopt(owners.get(canonicalId(model)));
    if (this.#route.creates && this.#owner === undefined)
      throw new AppError("bad_request", "Name the project in x-sumtree-project: this key has several.");
  }

  /** Rewrites a successful JSON response; undefined if it passes unread. */
  get rewrite(): ((json: Buffer) => Promise<Buffer>) | undefined {
    const { creates, isKnown } = this.#route;
    const filters = !this.#seesAll && !isKnown && !this.#isWithinOwn;
    if (!filters && !(creates && this.#owner !== undefined)) return undefined;
    return async (json) => {
      if (json.length === 0) return json;
      const list = readJson(json);
      const id = idOf(list.value);
      const owner = id === undefined ? undefined : await this.#ownerOfAnswer(id, filters);
      // what has an owner brings its own parts
      return filters && owner === undefined ? this.#withoutForeign(json, list) : json;
    };
  }

  /** Claims the id of something new. An upstream may return what exists already, of another project too. */
  async #ownerOfAnswer(id: string, filters: boolean): Promise<string | undefined> {
    const owner =
      this.#route.creates && this.#owner !== undefined
        ? await this.#ledger.claim(id, this.#owner)
        : (await this.#ledger.find([id])).get(id);
    this.#checkOne("Resource", owner, filters && isUuid(id));
    return owner;
  }

  async #withoutForeign(json: Buffer, list: JsonList): Promise<Buffer> {
    const named = new Map(list.items.filter(isJsonObject).map((item) => [item, idsInBody(textsIn(item))]));
    const owners = await this.#ledger.find([...named.values()].flat().map(({ id }) => id));
    const left = new Set<unknown>();
    for (const [item, ids] of named) {
      const id = idOf(item);
      const itsOwners = ids.flatMap((one) => owners.get(one.id) ?? []);
      const isOwn = itsOwners.every((owner) => this.#grant.covers(owner));
      if (!isOwn || (id !== undefined && !owners.has(id))) left.add(item);
    }
    return left.size === 0 ? json : list.without(left);
  }

  async #checkTarget(path: readonly NamedId[], query: readonly NamedId[]): Promise<void> {
    const owners = await this.#ledger.find([...path, ...query].map(({ id }) => id));
    for (const one of path) {
      const owner = owners.get(one.id);
      this.#checkOne(one.kind, owner, one.mustBeKnown && !this.#isWithinOwn);
      this.#isWithinOwn ||= owner !== undefined;
      this.#adopt(owner);
    }
    for (const one of query)
      this.#checkOne(one.kind, owners.get(one.id), one.mustBeKnown && !this.#isWithinOwn);
  }

  #checkOne(kind: NamedId["kind"], owner: string | undefined, mustBeKnown: boolean): void {
    if (owner === undefined ? mustBeKnown : !this.#grant.covers(owner)) throw notFound(kind);
  }

  /** Takes the project of a named resource, if the request names none. */
  #adopt(owner: string | undefined): void {
    if (owner !== undefined) this.#owner ??= this.#grant.project(owner);
  }
}

/** Checks models that are named by the id of a training resource. Errors: not_found; `StorageError`. */
export async function checkModelIds(
  grant: Grant,
  ledger: OwnerLedger,
  models: readonly string[],
): Promise<void> {
  const ids = models.map(canonicalId).filter(isUuid);
  if (ids.length === 0 || grant.covers("*")) return;
  for (const owner of (await ledger.find(ids)).values()) if (!grant.covers(owner)) throw notFound("Model");
}

export function notFound(kind: NamedId["kind"] | "Response"): AppError {
  return new AppError("not_found", `${kind} not found.`);
}

function readJson(json: Buffer): JsonList {
  try {
    return new JsonList(json);
  } catch (error) {
    throw new AppError("upstream_invalid", "The upstream's response is not JSON.", { cause: error });
  }
}

function idOf(value: unknown): string | undefined {
  const id = isJsonObject(value) ? textOf(value["id"]) : undefined;
  return id === undefined ? undefined : canonicalId(id);
}
