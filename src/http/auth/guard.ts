import fastifyAuth from "@fastify/auth";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../shared/errors.ts";
import { runAsTenant } from "../../fairness/tenant.ts";
import type { Scope } from "./api-key.ts";
import { parseAuthorization, type Credentials, type Scheme } from "./credentials.ts";
import { grantOf, type Grant } from "./grant.ts";
import type { KeyRing } from "./key-ring.ts";
import type { KeyLastUsed } from "./key-last-used.ts";

/** Access rule of a route. Every route declares one: `config: { access }`. */
export type Access =
  | "public"
  | {
      readonly schemes: readonly Scheme[];
      /** `any`: every valid key. */
      readonly scope: Scope | "any";
      /** True if the key may also come in the headers of model SDKs. */
      readonly takesKeyHeaders?: boolean;
    };

export const anyAccess = { schemes: ["basic", "bearer"], scope: "any" } as const satisfies Access;
export const readAccess = { schemes: ["basic", "bearer"], scope: "read" } as const satisfies Access;
export const ingestAccess = { schemes: ["basic", "bearer"], scope: "ingest" } as const satisfies Access;
export const pricesAccess = { schemes: ["basic", "bearer"], scope: "prices" } as const satisfies Access;
export const deleteAccess = { schemes: ["basic", "bearer"], scope: "calls:delete" } as const satisfies Access;
export const adminAccess = { schemes: ["basic", "bearer"], scope: "admin" } as const satisfies Access;
const gatewayKeys = { schemes: ["bearer"], takesKeyHeaders: true } as const;
/** Access of model endpoints. */
export const gatewayAccess = { ...gatewayKeys, scope: "gateway" } as const satisfies Access;
/** Access of the training API. */
export const trainAccess = { ...gatewayKeys, scope: "train" } as const satisfies Access;

declare module "fastify" {
  interface FastifyContextConfig {
    access?: Access;
  }
  interface FastifyRequest {
    /** Set by the guard on every route that is not public. */
    grant: Grant;
  }
}

const challenges = {
  basic: 'Basic realm="sumtree", charset="UTF-8"',
  bearer: 'Bearer realm="sumtree"',
} satisfies Record<Scheme, string>;

export interface GuardDeps {
  readonly keys: KeyRing;
  readonly uses: KeyLastUsed;
  /** Origins that may call from a browser. */
  readonly origins: readonly string[];
}

/** Checks access before every route registered after it. Registering a route without a declared access fails. */
export async function registerGuard(app: FastifyInstance, deps: GuardDeps): Promise<void> {
  await app.register(fastifyAuth);
  app.decorateRequest("grant", null as unknown as Grant);
  app.addHook("onRoute", (route) => {
    const access = route.config?.access;
    if (access === undefined)
      throw new Error(`${String(route.method)} ${route.url} does not declare its access`);
    if (access === "public") return;
    const check = app.auth([
      (request: FastifyRequest, reply: FastifyReply) => admit(request, reply, access, deps),
    ]);
    route.onRequest = [check, ...[route.onRequest ?? []].flat()];
    // last, because body parsers run in the context of the connection
    route.preHandler = [...[route.preHandler ?? []].flat(), actForKey];
  });
}

function actForKey({ grant }: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  runAsTenant(grant.tenant, done);
}

async function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  access: Exclude<Access, "public">,
  { keys, uses, origins }: GuardDeps,
): Promise<void> {
  const credentials = credentialsOf(request, access);
  if (credentials?.scheme === "basic" && isFromAnotherPage(request, origins)) {
    throw new AppError(
      "forbidden",
      "A page of another origin may not use this key. CORS_ORIGINS lists those that may.",
    );
  }
  const key =
    credentials !== undefined && access.schemes.includes(credentials.scheme)
      ? await keys.verify(credentials.key)
      : undefined;
  if (key === undefined) {
    void reply.header("www-authenticate", access.schemes.map((scheme) => challenges[scheme]).join(", "));
    throw new AppError("unauthenticated", "Authentication failed");
  }
  uses.note(key.id);
  request.grant = grantOf(key);
  if (access.scope !== "any") requireScope(request.grant, access.scope);
}

/** Throws `forbidden` if the key lacks the scope. */
export function requireScope(grant: Grant, scope: Scope): void {
  if (!grant.has(scope)) throw new AppError("forbidden", `This key does not have the scope ${scope}.`);
}

/**
 * Reads the key. `x-sumtree-key` leaves the usual headers free for the client's own upstream credentials; Anthropic's SDKs
 * send `x-api-key`, Google's `x-goog-api-key`.
 */
function credentialsOf(
  { headers }: FastifyRequest,
  { takesKeyHeaders = false }: Exclude<Access, "public">,
): Credentials | undefined {
  const { authorization, "x-sumtree-key": ours, "x-api-key": apiKey, "x-goog-api-key": googleKey } = headers;
  if (takesKeyHeaders && typeof ours === "string") return { scheme: "bearer", key: ours };
  const key = apiKey ?? googleKey;
  if (takesKeyHeaders && authorization === undefined && typeof key === "string") {
    return { scheme: "bearer", key };
  }
  return parseAuthorization(authorization);
}

/**
 * True for a cross-site request from another origin than `origins`: a browser adds a stored password to requests of any page.
 * Other clients send no `Sec-Fetch-Site`. Source: https://www.w3.org/TR/fetch-metadata/
 */
function isFromAnotherPage({ headers }: FastifyRequest, origins: readonly string[]): boolean {
  const site = headers["sec-fetch-site"];
  if (site === undefined || site === "same-origin" || site === "none") return false;
  return !origins.includes(headers.origin ?? "");
}
