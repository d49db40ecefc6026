import { AsyncLocalStorage } from "node:async_hooks";

/** On whose behalf something is used: whose part of it shrinks. */
export interface Tenant {
  /** A project, `entity/*` for whoever may use several of an entity, `*` for whoever may use several entities. */
  readonly project: string;
  readonly key: string;
}

/** The service itself: what it does for everybody at once, or for nobody in particular. */
export const SYSTEM_TENANT: Tenant = { project: "", key: "" };

/** The path of a tenant in the hierarchy of fair sharing. */
export function levelsOf({ project, key }: Tenant): readonly [entity: string, project: string, key: string] {
  const slash = project.indexOf("/");
  return [slash === -1 ? project : project.slice(0, slash), project, key];
}

const acting = new AsyncLocalStorage<Tenant>();

/** Does some work, and what follows of it, on behalf of a holder. */
export function runAsTenant<Result>(tenant: Tenant, work: () => Result): Result {
  return acting.run(tenant, work);
}

/** On whose behalf the running work is done. */
export function currentTenant(): Tenant {
  return acting.getStore() ?? SYSTEM_TENANT;
}
