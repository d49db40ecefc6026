import { routeSchemas } from "../http/openapi/route-text.ts";
import { emptyRes } from "../http/schemas/response-schema.ts";
import * as schema from "./schema.ts";

const id = "0198f5e2-0000-7000-8000-0000000000b1";
const project_id = "acme/demo";
const limit = { usd: 100, tokens: null, requests: null };
const facts = { timezone: "Europe/Berlin", on_unknown_price: "refuse", alerts: [0.5, 0.8, 1] };
const budget = {
  id,
  project_id,
  name: "Team",
  scope: "project",
  match: "*",
  limit,
  window: "month",
  ...facts,
};

/** The routes by their operation ids. */
export const schemas = routeSchemas({
  createBudget: {
    summary: "Set a budget",
    description:
      "A budget bounds what requests through the gateway use: of a project, or of each key, user, thread, trace or model in it. " +
      "What is recorded by other ways counts as spent, too.",
    success: "The budget",
    example: {
      request: {
        project_id,
        name: "Team",
        scope: "project",
        limit: { usd: 100 },
        window: "month",
        timezone: "Europe/Berlin",
      },
      response: budget,
    },
    body: schema.createBody,
    response: { 200: schema.budgetRes },
  },
  updateBudget: {
    summary: "Change a budget",
    description:
      "Changes the members that are named; `limit` as a whole. Scope and match stay. 404: no such budget in the project.",
    success: "The budget",
    example: {
      request: { project_id, id, limit: { usd: 150 } },
      response: { ...budget, limit: { ...limit, usd: 150 } },
    },
    body: schema.updateBody,
    response: { 200: schema.budgetRes },
  },
  queryBudgets: {
    summary: "What is spent and left of budgets",
    description:
      "The budgets of a project with what is recorded in their current window, what open requests hold, and when it resets.",
    success: "The budgets",
    example: {
      request: { project_id },
      response: {
        budgets: [
          {
            ...budget,
            spent: { usd: 41.5, tokens: 9_300_000, requests: 1200 },
            held: { usd: 0.25, tokens: 40_000, requests: 2 },
            resets_at: "2026-11-30T23:00:00.000Z",
            unpriced_requests: 0,
          },
        ],
      },
    },
    body: schema.queryBody,
    response: { 200: schema.queryRes },
  },
  deleteBudget: {
    summary: "Delete a budget",
    description: "The limit holds no longer; what is recorded stays. 404: no such budget in the project.",
    success: "Deleted",
    example: { request: { project_id, id }, response: {} },
    body: schema.deleteBody,
    response: { 200: emptyRes },
  },
});
