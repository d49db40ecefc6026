import { randomUUID } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { adminAccess, readAccess } from "../http/auth/guard.ts";
import { AppError, invalid } from "../shared/errors.ts";
import { chunksOf } from "../shared/chunks-of.ts";
import type { Project } from "../shared/project.ts";
import { EACH, type Budget } from "./budget.ts";
import type { BudgetStore } from "./budget-store.ts";
import { budgetMembers, budgetWithStates } from "./members.ts";
import { schemas } from "./route-schemas.ts";
import type { Spending } from "./spending.ts";

export interface BudgetRoutesDeps {
  readonly store: BudgetStore;
  readonly spending: Spending;
}

const MAX_BUDGETS = 1000;
/** Budgets whose sums are read at once. */
const MAX_READING = 4;

const tag = "budgets";
const mayCreate = { access: adminAccess, audit: "budget.create", tag } as const;
const mayUpdate = { access: adminAccess, audit: "budget.update", tag } as const;
const mayDelete = { access: adminAccess, audit: "budget.delete", tag } as const;
const mayRead = { access: readAccess, tag };

/** Budgets of a project, and what is spent and held of them. */
export async function budgetRoutes(
  root: FastifyInstance,
  { store, spending }: BudgetRoutesDeps,
): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const find = async (project: Project, id: string): Promise<Budget> => {
    const found = (await store.of(project)).find((budget) => budget.id === id);
    if (found === undefined) throw new AppError("not_found", "No such budget.");
    return found;
  };
  const withState = async (budget: Budget) =>
    budgetWithStates(budget, spending.windowOf(budget).endUs, await spending.statesOf(budget));

  app.post("/budget/create", { config: mayCreate, schema: schemas.createBudget }, async (request) => {
    const { grant, body, audit } = request;
    const project = grant.project(body.project_id);
    if ((await store.of(project)).length >= MAX_BUDGETS) throw tooMany();
    const budget: Budget = {
      id: randomUUID(),
      project,
      name: body.name?.toWellFormed() ?? null,
      scope: body.scope,
      match: body.scope === "project" ? EACH : body.match.toWellFormed(),
      limit: body.limit,
      window: body.window ?? null,
      timezone: body.timezone,
      onUnknownPrice: body.on_unknown_price,
      alerts: body.alerts,
    };
    const { project_id: _, id, ...facts } = budgetMembers(budget);
    audit.begin([project], facts);
    audit.add({ id });
    await store.put(budget, grant.keyId);
    return budgetMembers(budget);
  });

  app.post("/budget/update", { config: mayUpdate, schema: schemas.updateBudget }, async (request) => {
    const { grant, body, audit } = request;
    const old = await find(grant.project(body.project_id), body.id);
    const budget: Budget = {
      ...old,
      name: body.name === undefined ? old.name : (body.name?.toWellFormed() ?? null),
      limit: body.limit ?? old.limit,
      window: body.window === undefined ? old.window : body.window,
      timezone: body.timezone ?? old.timezone,
      onUnknownPrice: body.on_unknown_price ?? old.onUnknownPrice,
      alerts: body.alerts ?? old.alerts,
    };
    const { project_id: _, id, ...facts } = budgetMembers(budget);
    audit.begin([old.project], facts);
    audit.add({ id });
    await store.put(budget, grant.keyId);
    return budgetMembers(budget);
  });

  app.post("/budget/query", { config: mayRead, schema: schemas.queryBudgets }, async ({ grant, body }) => {
    const all = await store.of(grant.project(body.project_id));
    const asked = body.ids == null ? all : all.filter(({ id }) => body.ids!.includes(id));
    const budgets: ReturnType<typeof budgetWithStates>[] = [];
    for (const some of chunksOf(asked, MAX_READING))
      budgets.push(...(await Promise.all(some.map(withState))));
    return { budgets };
  });

  app.post("/budget/delete", { config: mayDelete, schema: schemas.deleteBudget }, async (request) => {
    const { grant, body, audit } = request;
    const project = grant.project(body.project_id);
    const budget = await find(project, body.id);
    audit.begin([project], {});
    audit.add({ id: budget.id });
    await store.remove(budget, grant.keyId);
    return {};
  });
}

function tooMany(): AppError {
  const msg = `A project may have ${MAX_BUDGETS} budgets. Delete those that hold no longer.`;
  return invalid([{ loc: ["body"], msg, type: "too_long" }]);
}
