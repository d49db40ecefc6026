import { routeSchemas } from "../http/openapi/route-text.ts";
import { traceFacetsResponse } from "./facets/schema.ts";
import { tracesQueryResponse } from "./schema.ts";

const counts = {
  requests: 2,
  prompt_tokens: 1200,
  completion_tokens: 300,
  total_tokens: 1500,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};
const costs = {
  prompt_tokens_total_cost: 0.003,
  completion_tokens_total_cost: 0.003,
  cache_read_input_tokens_total_cost: 0,
  cache_creation_input_tokens_total_cost: 0,
  other_cost: 0.03,
  total_cost: 0.036,
};
const total = { calls: 6, errors: 1, ...counts, ...costs };
const nothing = Object.fromEntries([...Object.keys(counts), ...Object.keys(costs)].map((name) => [name, 0]));
const window = { start: "2026-01-15T00:00:00Z", end: "2026-01-16T00:00:00Z" };
const resolved = { start: "2026-01-15T00:00:00.000Z", end: "2026-01-16T00:00:00.000Z" };

/** The routes by their operation ids. */
export const schemas = routeSchemas({
  traceQuery: {
    summary: "List the traces of a window with what each of them cost",
    description:
      "The traces whose root started in the window, sorted over the whole window. `filter` and `query` are of the root; each " +
      "entry of `any` must be true of some call of the trace. A trace whose root never came is there by its first call. Totals " +
      "are of all calls of a trace, each completion once, `other_cost` included: those of its root's receipt.",
    success: "A page of traces, and the total of all that match",
    example: {
      request: {
        project_id: "acme/demo",
        ...window,
        any: [{ status: ["error"] }, { text: "parcel" }],
        totals: { total_cost: { gte: 0.01 } },
        order_by: "total_cost",
        group_by: "op_name",
        include_costs: true,
      },
      response: {
        ...resolved,
        traces: [
          {
            trace_id: "0198f5e2-0000-7000-8000-0000000000aa",
            call_id: "0198f5e2-0000-7000-8000-000000000001",
            has_root: true,
            roots: 1,
            op_name: "answer",
            display_name: null,
            started_at: "2026-01-15T09:30:00.000000Z",
            ended_at: "2026-01-15T09:30:06.500000Z",
            latency_ms: 6500,
            status: "success",
            exception: null,
            thread_id: null,
            svc_user_id: "ann",
            svc_user_ids: ["ann"],
            inputs_start: '{"question":"Where is my parcel?"}',
            unfinished: 0,
            models: ["gpt-4o"],
            total,
            failed: { calls: 1, errors: 1, ...nothing },
            unpriced: [],
          },
        ],
        total: {
          traces: 1,
          failed_traces: 1,
          unfinished_traces: 0,
          total,
          unpriced: [],
          groups: { values: [{ value: "answer", traces: 1, total }], other: null },
        },
        next_page_token: null,
      },
    },
    response: { 200: tracesQueryResponse },
  },
  traceFacets: {
    summary: "Count the traces of a window by their values",
    description:
      "Of the traces that `POST /trace/query` lists: how many have which status, operation, model, user, or value of any field of " +
      "the root. With `contains`, names for completion.",
    success: "The most frequent values of each facet, and how many more there are",
    example: {
      request: {
        project_id: "acme/demo",
        ...window,
        facets: ["status", "failed", { $getField: "attributes.version" }],
        limit: 5,
      },
      response: {
        ...resolved,
        traces: 12,
        facets: [
          { facet: "status", values: [{ value: "success", traces: 12 }], other: { values: 0, traces: 0 } },
          {
            facet: "failed",
            values: [
              { value: false, traces: 9 },
              { value: true, traces: 3 },
            ],
            other: { values: 0, traces: 0 },
          },
          {
            facet: "attributes.version",
            values: [
              { value: "1.4", traces: 11 },
              { value: null, traces: 1 },
            ],
            other: { values: 0, traces: 0 },
          },
        ],
      },
    },
    response: { 200: traceFacetsResponse },
  },
});
