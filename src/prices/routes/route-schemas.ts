import { routeSchemas } from "../../http/openapi/route-text.ts";
import { emptyRes } from "../../http/schemas/response-schema.ts";
import * as schema from "./schema.ts";

const id = "0198f5e2-0000-7000-8000-0000000000c1";
const byId = { $expr: { $eq: [{ $getField: "id" }, { $literal: id }] } };

/** The routes by their operation ids. */
export const schemas = routeSchemas({
  createPrices: {
    summary: "Set prices for the project",
    description:
      "A price applies to calls of its LLM that start at `effective_date` or later, until a later price. It takes precedence over the public list.",
    success: "The ids of the prices",
    example: {
      request: {
        project_id: "acme/demo",
        costs: { "gpt-4o": { prompt_token_cost: 0.0000025, completion_token_cost: 0.00001 } },
      },
      response: { ids: [[id, "gpt-4o"]] },
    },
    body: schema.createBody,
    response: { 200: schema.createRes },
  },
  queryPrices: {
    summary: "The project's own prices",
    description: "The prices that the project has set, without the public list.",
    success: "The prices, with the requested fields",
    example: {
      request: { project_id: "acme/demo", fields: ["id", "llm_id", "prompt_token_cost"] },
      response: { results: [{ id, llm_id: "gpt-4o", prompt_token_cost: 0.0000025 }] },
    },
    body: schema.queryBody,
    response: { 200: schema.queryRes },
  },
  purgePrices: {
    summary: "Delete prices by id",
    description: "Prices are deleted by id. Deleting one that does not exist is not an error.",
    success: "Deleted",
    example: { request: { project_id: "acme/demo", query: byId }, response: {} },
    body: schema.purgeBody,
    response: { 200: emptyRes },
  },
});
