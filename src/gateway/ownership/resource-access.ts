import type { FastifyRequest } from "fastify";
import { onlyProjectOf, type Grant } from "../../http/auth/grant.ts";
import { AppError, invalid } from "../../shared/errors.ts";
import { isJsonObject } from "../../shared/json.ts";
import type { JobKind } from "../../training-jobs/job.ts";
import { checkNamedInBody, projectOf, PROJECT_MEMBERS, queryOf, textOf, textsIn } from "../named-projects.ts";
import { pathBehindPrefix } from "../relay/upstream-path.ts";
import { JsonList } from "./json-list.ts";
import type { Project } from "../../shared/project.ts";
import { modelText } from "./created-model.ts";
import type { OwnerLedger } from "./ledger/owner-ledger.ts";

/** Route of the training service; only its lists are no routes of the gateway. */
export interface ResourceRoute {
  readonly kind: "creates" | "reads" | "list";
  readonly needsModel?: boolean | undefined;
  /** True for routes that create a training job. */
  readonly job?: JobKind | undefined;
}

type OnOwned = (id: string, owner: Project) => Promise<void>;

export type ResourceAccess = Awaited<ReturnType<typeof accessOf>>;

const QUERY: ReadonlySet<string> = new Set(["after", "limit", "order", ...PROJECT_MEMBERS]);

/**
 * Checks the path and query of a request to the training service. A key that is not valid for all projects reaches what the
 * ledger gives to its projects; any other is `not_found`. What is below a model or job belongs to it. Errors: forbidden;
 * validation; `StorageError`.
 */
export async function accessOf(
  request: FastifyRequest,
  ledger: OwnerLedger,
  { kind, needsModel = false }: ResourceRoute,
) {
  const { grant, params, url } = request;
  let owner = projectOf(request).project ?? onlyProjectOf(request.grant);
  const query = queryOf(url);
  await checkOwned(grant, ledger, [params, ...query.map(([name, text]) => ({ [name]: text }))]);
  const extra = query.find(([name]) => !QUERY.has(name));
  if (extra !== undefined && !grant.covers("*"))
    throw invalid([{ loc: ["query", extra[0]], msg: "Not of the interface", type: "extra_forbidden" }]);
  return {
    /** Errors: not_found; validation; bad_request if what is created would belong to no project; `StorageError`. */
    async checkBody(body: unknown, isWhole = true): Promise<void> {
      const named = checkNamedInBody(grant, body);
      owner ??= named;
      const { model_id: model } = isJsonObject(body) ? body : {};
      if (isWhole && needsModel && typeof model !== "string")
        throw invalid([{ loc: ["body", "model_id"], msg: "Field required", type: "missing" }]);
      const ofModel = (await checkOwned(grant, ledger, body)).get(canonicalId(String(model)));
      if (ofModel !== undefined) owner ??= grant.project(ofModel);
      if (kind === "creates" && owner === undefined && !grant.covers("*"))
        throw new AppError("bad_request", "Name the project in x-sumtree-project: this key has several.");
    },
    /** The project that what is created would belong to. */
    owner: (): Project | undefined => owner,
    /**
     * Returns the rewrite of a successful response; undefined if it passes unread. `onOwned` is called when something created
     * has its owner.
     */
    rewrite(onOwned?: OnOwned): ((json: Buffer) => Promise<Buffer>) | undefined {
      const project = owner;
      if (kind === "list") return async (json) => onlyOwn(grant, ledger, json);
      if (kind === "reads" || project === undefined) return undefined;
      return async (json) => {
        const created = readJson(json)?.value;
        const id = idOf(created);
        if (id === undefined) return json;
        const owned = await ledger.claim(id, project, modelText(created));
        // an upstream may return what exists already, of another project too
        if (!grant.covers(owned)) throw notFound("Resource");
        await onOwned?.(textOf((created as { readonly id: unknown }).id)!, grant.project(owned));
        return json;
      };
    },
  };
}

/**
 * Returns the owners of the ids in a value, for a key that is not valid for all projects. Errors: not_found if one is
 * foreign, or unknown where it must not be; `StorageError`.
 */
export async function checkOwned(
  grant: Grant,
  ledger: OwnerLedger,
  value: unknown,
): Promise<ReadonlyMap<string, string>> {
  const named = grant.covers("*") ? [] : namedIdsIn(value);
  const owners = await ledger.find(named.map(({ id }) => id));
  for (const { id, kind, mustBeKnown } of named) {
    const owner = owners.get(id);
    if (owner === undefined ? mustBeKnown : !grant.covers(owner)) throw notFound(kind);
  }
  return owners;
}

/** Leaves out items with a foreign id, or an unknown one of their own. Errors: not_found for what is no item. */
async function onlyOwn(grant: Grant, ledger: OwnerLedger, json: Buffer): Promise<Buffer> {
  const list = readJson(json);
  const value = list?.value;
  const owners = await ledger.find(namedIdsIn(value).map(({ id }) => id));
  const isOwn = (one: unknown): boolean => {
    const id = idOf(one);
    const theirs = namedIdsIn(one).flatMap((named) => owners.get(named.id) ?? []);
    return (id === undefined || owners.has(id)) && theirs.every((owner) => grant.covers(owner));
  };
  const alone = idOf(value) === undefined && isJsonObject(value) ? Object.values(value) : [value];
  if (!alone.filter(isJsonObject).every(isOwn)) throw notFound("Resource");
  return list?.filter(isOwn) ?? json;
}

/**
 * Returns the route of a request that only passes, if it is one to the training service: a key of projects reaches lists
 * there and nothing else, in any spelling that a server may read. Throws not_found.
 */
export function passingRoute({ method, url, grant }: FastifyRequest): ResourceRoute | undefined {
  const [path = ""] = pathBehindPrefix(url).split("?", 1);
  // three times, as a proxy between may; unlike `decodeURIComponent`, it never fails
  const plain = unescape(unescape(unescape(path)));
  if (grant.covers("*") || !/^[/\\\0- ]*(?:preview|training)(?![\w-])/i.test(plain)) return undefined;
  if (/^(?:GET|HEAD)$/.test(method) && /^\/preview\/[\w-]+\/?$/.test(path)) return { kind: "list" };
  throw new AppError("not_found", "Only keys for all projects reach this path.");
}

export function notFound(kind: string): AppError {
  return new AppError("not_found", `${kind} not found.`);
}

/** Returns undefined for an empty response. */
function readJson(json: Buffer): JsonList | undefined {
  try {
    return json.length === 0 ? undefined : new JsonList(json);
  } catch (error) {
    throw new AppError("upstream_invalid", "The upstream's response is not JSON.", { cause: error });
  }
}

/** Id of a training resource. */
export interface NamedId {
  /** In the form of `canonicalId`. */
  readonly id: string;
  readonly kind: "Model" | "Training job" | "Resource";
  /** True if an id without owner must be rejected too. */
  readonly mustBeKnown: boolean;
}

const UUID = /^[\da-f]{32}$/;
const REFERENCE = /(?:^|_)(?:model|job|checkpoint)_ids?$/;
const ANY_ID = /(?:^|_)ids?$|^after$/;

/** Returns one spelling per id: the upstream reads UUIDs as Python does, in any case, with braces, as a URN or without hyphens. */
export function canonicalId(text: string): string {
  const plain = text.normalize("NFKC").trim().toLowerCase();
  const digits = plain.replaceAll(/urn:|uuid:|[-{}]/g, "");
  return UUID.test(digits) ? digits : text;
}

export function idOf(value: unknown): string | undefined {
  const id = isJsonObject(value) ? textOf(value["id"]) : undefined;
  return id === undefined ? undefined : canonicalId(id);
}

/** Returns the ids in a value. Members that are no reference, such as a name, are ids only if another project has them. */
export function namedIdsIn(value: unknown): readonly NamedId[] {
  return [...textsIn(value)].flatMap(({ name, text }) => {
    const isNamedId = ANY_ID.test(name);
    // a body can have half a million numbers
    if (!isNamedId && text.length < 32) return [];
    const id = canonicalId(text);
    const kind = /job/.test(name) ? "Training job" : /model/.test(name) ? "Model" : "Resource";
    return isNamedId || UUID.test(id) ? [{ id, kind, mustBeKnown: REFERENCE.test(name) }] : [];
  });
}
