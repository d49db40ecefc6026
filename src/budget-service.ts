import { Budgets } from "./budgets/budgets.ts";
import { createBudgetStore, type BudgetStore } from "./budgets/budget-store.ts";
import { createClaims } from "./budgets/claims.ts";
import type { ProjectChanges } from "./budgets/project-changes.ts";
import { createSpentReader } from "./budgets/spent.ts";
import { Spending } from "./budgets/spending.ts";
import { createTraceLimitStore } from "./budgets/trace-limit-store.ts";
import type { CallWriter } from "./calls/write/call-writer.ts";
import type { Clock } from "./shared/clock.ts";
import type { StatsDeps } from "./stats/sum-calls.ts";

export interface BudgetService {
  readonly store: BudgetStore;
  readonly spending: Spending;
  readonly budgets: Budgets;
}

interface BudgetServiceDeps extends StatsDeps {
  readonly changes: ProjectChanges;
  readonly replicas: number;
  readonly clock: Clock;
  readonly steady: Clock;
}

export function createBudgetService(deps: BudgetServiceDeps): BudgetService {
  const { engine, clock, steady, changes, replicas } = deps;
  const store = createBudgetStore(engine, clock, steady);
  const reader = createSpentReader(deps, () => clock.now());
  const spending = new Spending({ reader, changes, claims: createClaims(engine, replicas), clock, steady });
  const traceLimits = createTraceLimitStore(engine, steady);
  return { store, spending, budgets: new Budgets({ store, traceLimits, spending }) };
}

/** Notes the projects of the calls that are written, so that what is spent is read again. */
export function noteChanges(writer: CallWriter, changes: ProjectChanges): CallWriter {
  return {
    ...writer,
    async write(project, events, since) {
      try {
        return await writer.write(project, events, since);
      } finally {
        changes.note(project);
      }
    },
  };
}
