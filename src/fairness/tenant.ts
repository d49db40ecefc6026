import { AsyncLocalStorage } from "node:async_hooks";

/** Tenant charged for a resource. */
export interface Tenant {
  /** A project; `entity/*` for a key with several projects of an entity; `*` for several entities. */
  readonly project: string;
  readonly key: string;
}

/** Tenant of the service's own work. */
export const SYSTEM_TENANT: Tenant = { project: "", key: "" };

/** Returns a tenant's path in the fairness hierarchy. */
export function levelsOf({ project, key }: Tenant): readonly [entity: string, project: string, key: string] {
  const slash = project.indexOf("/");
  return [slash === -1 ? project : project.slice(0, slash), project, key];
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
