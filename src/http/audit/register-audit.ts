import { randomUUID } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../shared/clock.ts";
import {
  endEntry,
  type AuditAction,
  type AuditEntry,
  type AuditLog,
  type AuditOutcome,
} from "./audit-log.ts";

type Facts = Readonly<Record<string, unknown>>;

/** Details that a route adds to the audit entry of its action. */
export interface Audit {
  /**
   * Stores that the action begins. Call it before any change, with the affected projects, which the key may use. If it
   * throws (`StorageError`), make no change.
   */
  begin(projects: readonly string[], requested: Facts): Promise<void>;
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

export interface AuditDeps {
  readonly log: AuditLog;
  readonly clock: Clock;
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
 * Stores and logs administrative actions. An action's entry is stored before the action, its outcome before the response. A
 * request rejected earlier has one entry. Throws for a route that should declare an action and does not.
 */
export function registerAudit(app: FastifyInstance, { log, clock }: AuditDeps): void {
  let lastUs = 0;
  const refusals = new RefusalsOfMinute();
  const open = (request: FastifyRequest, action: AuditAction): RunningAudit => {
    lastUs = Math.max(lastUs + 1, clock.now() * 1000);
    return new RunningAudit(request, { log, action, atUs: lastUs });
  };
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
    const onlyBegun = typeof audit !== "string";
    const prepare = async (request: FastifyRequest): Promise<void> => {
      request.audit = open(request, action);
    };
    const finish = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      // a key without the scope does not get as far as `prepare`
      if (request.grant === null) return;
      const one = (request.audit as RunningAudit | null) ?? open(request, action);
      if (!one.begun) {
        if (onlyBegun || OVERLOADED.has(reply.statusCode)) return;
        const count = refusals.count(request.grant.keyId, clock.now());
        if (count > MAX_REFUSALS) return;
        if (count === MAX_REFUSALS) one.add({ not_listed: "further refusals of this key in this minute" });
      }
      await one.end(reply.statusCode);
    };
    route.preHandler = [prepare, ...[route.preHandler ?? []].flat()];
    route.onSend = [finish, ...[route.onSend ?? []].flat()];
  });
  app.addHook("onClose", () => log.drain());
}

class RefusalsOfMinute {
  #minute = Number.NaN;
  readonly #counts = new Map<string, number>();

  /** Counts a rejected request of the key; returns their number in this minute. */
  count(keyId: string, nowMs: number): number {
    const minute = Math.floor(nowMs / MINUTE_MS);
    if (minute !== this.#minute) this.#counts.clear();
    this.#minute = minute;
    const count = (this.#counts.get(keyId) ?? 0) + 1;
    this.#counts.set(keyId, count);
    return count;
  }
}

class RunningAudit implements Audit {
  readonly #request: FastifyRequest;
  readonly #log: AuditLog;
  #entry: AuditEntry;
  #result: Facts = {};
  begun = false;

  constructor(
    request: FastifyRequest,
    { log, action, atUs }: { log: AuditLog; action: AuditAction; atUs: number },
  ) {
    const { keyId, key } = request.grant;
    this.#request = request;
    this.#log = log;
    this.#entry = {
      id: randomUUID(),
      atUs,
      action,
      projects: key.projects,
      keyId,
      keyName: key.name,
      requestId: request.id,
      details: {},
      outcome: "unknown",
      status: 0,
    };
  }

  async begin(projects: readonly string[], requested: Facts): Promise<void> {
    this.#entry = { ...this.#entry, projects, details: requested };
    await this.#log.write(this.#entry);
    this.begun = true;
  }

  add(result: Facts): void {
    this.#result = { ...this.#result, ...result };
  }

  async end(status: number): Promise<void> {
    const requested = this.begun ? this.#entry.details : namedIn(this.#request);
    const outcome = outcomeOf(status, this.begun);
    const entry = { ...this.#entry, details: { ...requested, ...this.#result }, outcome, status };
    await endEntry({ log: this.#log, logger: this.#request.log }, entry, this.#result);
  }
}

function outcomeOf(status: number, begun: boolean): AuditOutcome {
  if (status < 400) return "done";
  return begun || status >= 500 ? "failed" : "refused";
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
