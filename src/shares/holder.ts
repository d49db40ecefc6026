import { AsyncLocalStorage } from "node:async_hooks";

/** On whose behalf something is used: whose part of it shrinks. */
export interface Holder {
  /** A project, `entity/*` for whoever may use several of an entity, `*` for whoever may use several entities. */
  readonly project: string;
  readonly key: string;
}

/** The service itself: what it does for everybody at once, or for nobody in particular. */
export const SERVICE: Holder = { project: "", key: "" };

/** The path of a tenant in the hierarchy of fair sharing. */
export function levelsOf({ project, key }: Holder): readonly [entity: string, project: string, key: string] {
  const slash = project.indexOf("/");
  return [slash === -1 ? project : project.slice(0, slash), project, key];
}

const acting = new AsyncLocalStorage<Holder>();

/** Does some work, and what follows of it, on behalf of a holder. */
export function actingFor<Result>(holder: Holder, work: () => Result): Result {
  return acting.run(holder, work);
}

/** On whose behalf the running work is done. */
export function currentHolder(): Holder {
  return acting.getStore() ?? SERVICE;
}
