import type { Operations } from "../operation.ts";

const id = "0198f5e2-0000-7000-8000-0000000000c1";
const byId = { $expr: { $eq: [{ $getField: "id" }, { $literal: id }] } };

export const priceOperations: Operations = {
  "POST /cost/create": {
    id: "createPrices",
    summary: "Set prices of the project's own",
    description:
      "A price holds for calls of its LLM that start at `effective_date` or later, until a later one. It goes before the public list.",
    response: "The ids of the prices",
    example: {
      request: {
        project_id: "acme/demo",
        costs: { "gpt-4o": { prompt_token_cost: 0.0000025, completion_token_cost: 0.00001 } },
      },
      response: { ids: [[id, "gpt-4o"]] },
    },
  },
  "POST /cost/query": {
    id: "queryPrices",
    summary: "The project's own prices",
    description: "Prices that the project has set. The public list is not in the response.",
    response: "The prices, with the fields that were asked for",
    example: {
      request: { project_id: "acme/demo", fields: ["id", "llm_id", "prompt_token_cost"] },
      response: { results: [{ id, llm_id: "gpt-4o", prompt_token_cost: 0.0000025 }] },
    },
  },
  "POST /cost/purge": {
    id: "purgePrices",
    summary: "Delete prices by id",
    description: "Prices are deleted by their ids alone. Deleting what is not there is no error.",
    response: "Deleted",
    example: { request: { project_id: "acme/demo", query: byId }, response: {} },
  },
};
