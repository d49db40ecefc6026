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
  "POST /cost/factor/create": {
    id: "createCostFactors",
    summary: "Set what is paid for a dollar of list cost",
    description:
      "A discount, a tax, or both, at one provider or at all. Receipts show it beside list cost; no list cost changes. It holds for calls that start at `effective_date` or later, until a later one.",
    response: "The ids of the factors",
    example: {
      request: {
        project_id: "acme/demo",
        factors: [{ provider: "openai", factor: 0.85, note: "contract of 2026" }],
      },
      response: { ids: [id] },
    },
  },
  "POST /cost/factor/query": {
    id: "queryCostFactors",
    summary: "The project's factors on list cost",
    description: "All of them, as they were set.",
    response: "The factors",
    example: {
      request: { project_id: "acme/demo" },
      response: {
        results: [
          {
            id,
            provider: "openai",
            factor: 0.85,
            effective_date: "2026-01-01T00:00:00.000Z",
            note: "contract of 2026",
            created_by: "root",
            created_at: "2026-01-01T00:00:00.000Z",
          },
        ],
      },
    },
  },
  "POST /cost/factor/purge": {
    id: "purgeCostFactors",
    summary: "Delete factors by id",
    description: "Factors are deleted by their ids alone. Deleting what is not there is no error.",
    response: "Deleted",
    example: { request: { project_id: "acme/demo", query: byId }, response: {} },
  },
};
