import { AsyncLocalStorage } from "node:async_hooks";

/** Tenant charged for a resource: a key, and its entity; keys of several entities share one of their own, `*`. */
export interface Tenant {
  readonly entity: string;
  readonly key: string;
}

/** Tenant of the service's own work. */
export const SYSTEM_TENANT: Tenant = { entity: "", key: "" };

/** Returns the tenant of a key's work for a project, `entity/project`. */
export function tenantFor(project: string, key: string): Tenant {
  return { entity: project.slice(0, project.indexOf("/")), key };
}

const acting = new AsyncLocalStorage<Tenant>();

/** Runs work, and asynchronous work it starts, as a tenant. */
export function runAsTenant<Result>(tenant: Tenant, work: () => Result): Result {
  return acting.run(tenant, work);
}

/** Returns the tenant of the running work. */
export function currentTenant(): Tenant {
  return acting.getStore() ?? SYSTEM_TENANT;
}
