import { randomUUID } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { LRUCache } from "lru-cache";
import type { Clock } from "../../shared/clock.ts";
import type { Engine } from "../../store/engine.ts";
import { endAudit, type AuditAction, type AuditOutcome } from "./audit-log.ts";

type Facts = Readonly<Record<string, unknown>>;

/** Projects and results of an action, which its route adds to the entry. */
export interface Audit {
  /** Call it before any change, with the affected projects, which the key may use. */
  begin(projects: readonly string[], requested: Facts): void;
  /** Adds results: ids, counts and other text of the service. They are logged, so never pass text from clients. */
  add(result: Facts): void;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** Action of the route. `begun`: only requests for which the route calls `begin` are audited. */
    audit?: AuditAction | { readonly begun: AuditAction };
  }
  interface FastifyRequest {
    /** Set on routes with an audited action. */
    audit: Audit;
  }
}

/** Names of a request that an entry keeps. */
const MAX_NAMED = 100;
/** Scopes whose routes must declare an audit action, except GET and HEAD. */
const AUDITED = new Set(["admin", "prices", "calls:delete"]);
/** Audit entries per key and minute for rejected requests, so that a key without permissions cannot fill the store. */
const MAX_REFUSALS = 60;
const MINUTE_MS = 60_000;
/** Statuses of requests rejected for load or rate, which are not audited. */
const OVERLOADED = new Set([429, 503]);

/**
 * Logs and stores administrative actions when they have ended, before the response. Throws for a route that should declare
 * an action and does not.
 */
export function registerAudit(app: FastifyInstance, engine: Engine, clock: Clock): void {
  let lastUs = 0;
  const refusals = new LRUCache<string, number>({ max: 10_000 });
  app.decorateRequest("audit", null as unknown as Audit);
  app.addHook("onRoute", (route) => {
    const { access, audit } = route.config ?? {};
    const scope = typeof access === "object" ? access.scope : "any";
    if (audit === undefined) {
      const changes = ![route.method].flat().every((method) => method === "GET" || method === "HEAD");
      if (changes && AUDITED.has(scope))
        throw new Error(`${String(route.method)} ${route.url} does not declare its audit action`);
      return;
    }
    const action = typeof audit === "string" ? audit : audit.begun;
    const finish = async (request: FastifyRequest, { statusCode: status }: FastifyReply): Promise<void> => {
      const { grant } = request;
      // a key without the scope does not get as far as the handler
      const { begun, result } = (request.audit as Noted | null) ?? new Noted();
      if (grant === null || (begun === undefined && (typeof audit !== "string" || OVERLOADED.has(status))))
        return;
      if (begun === undefined) {
        const refusal = `${grant.keyId} ${Math.floor(clock.now() / MINUTE_MS)}`;
        const count = (refusals.get(refusal) ?? 0) + 1;
        refusals.set(refusal, count);
        if (count > MAX_REFUSALS) return;
        if (count === MAX_REFUSALS) result["not_listed"] = "further refusals of this key in this minute";
      }
      lastUs = Math.max(lastUs + 1, clock.now() * 1000);
      const { projects, requested } = begun ?? { projects: grant.key.projects, requested: namedIn(request) };
      const entry = {
        id: randomUUID(),
        at_us: lastUs,
        action,
        projects,
        key_id: grant.keyId,
        key_name: grant.key.name,
        request_id: request.id,
        details: { ...requested, ...result },
        outcome: outcomeOf(status, begun !== undefined),
        status,
      };
      await endAudit(engine, request.log, [entry], result);
    };
    const prepare = (request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
      request.audit = new Noted();
      done();
    };
    route.preHandler = [prepare, ...[route.preHandler ?? []].flat()];
    route.onSend = [finish, ...[route.onSend ?? []].flat()];
  });
}

class Noted implements Audit {
  begun: { readonly projects: readonly string[]; readonly requested: Facts } | undefined;
  readonly result: Record<string, unknown> = {};

  begin(projects: readonly string[], requested: Facts): void {
    this.begun = { projects, requested };
  }

  add(result: Facts): void {
    Object.assign(this.result, result);
  }
}

function outcomeOf(status: number, isBegun: boolean): AuditOutcome {
  if (status < 400) return "done";
  return isBegun || status >= 500 ? "failed" : "refused";
}

/** Returns the project and path parameters of a rejected request. */
function namedIn({ params, body }: FastifyRequest): Facts {
  const named = {
    ...(params as Facts | null),
    project_id: (body as Facts | null | undefined)?.["project_id"],
  };
  return Object.fromEntries(
    Object.entries(named).filter(([, value]) => typeof value === "string" && value.length <= 512),
  );
}

/** Returns the first 100 values and their number. */
export function firstOf(name: string, values: readonly string[]): Facts {
  return { [name]: values.slice(0, MAX_NAMED), count: values.length };
}
