import { routeSchemas } from "../http/openapi/route-text.ts";
import { tracesFacetsResponse } from "./facets/schema.ts";
import { tracesQueryResponse } from "./list/schema.ts";

const window = { start: "2026-01-15T00:00:00Z", end: "2026-01-16T00:00:00Z" };
const figures = {
  calls: 6,
  failed: 1,
  unfinished: 0,
  total_tokens: 1500,
  total_cost: 0.036,
  partial: false,
  wasted_cost: 0.006,
};

/** The routes by their operation ids. */
export const schemas = routeSchemas({
  tracesQuery: {
    summary: "List the traces of a window with their usage and cost",
    description:
      "The traces whose root started in the window (without a root: whose first call did), sorted over the whole window. " +
      "`filter` and `query` are conditions on the root, `any_call` on at least one call, `totals` on the figures of the whole " +
      "trace. Figures count all calls of a trace, each completion once: those of its roots in `POST /trace/usage` plus `other_cost`.",
    success: "A page of traces, and the total of all that are selected",
    example: {
      request: {
        project_id: "acme/demo",
        ...window,
        any_call: {
          query: { $expr: { $contains: { input: { $getField: "inputs" }, substr: { $literal: "parcel" } } } },
        },
        totals: { total_cost: { gt: 0.01 } },
        order_by: "total_cost",
      },
      response: {
        traces: [
          {
            trace_id: "0198f5e2-0000-7000-8000-0000000000aa",
            root: {
              id: "0198f5e2-0000-7000-8000-000000000001",
              op_name: "answer",
              display_name: null,
              started_at: "2026-01-15T09:30:00.000000Z",
              ended_at: "2026-01-15T09:30:06.500000Z",
              svc_user_id: "ann",
              thread_id: null,
              exception: null,
              input_preview: "Where is my parcel?",
              output_preview: "It arrives tomorrow.",
            },
            ...figures,
            models: ["gpt-4o"],
            latency_ms: 6500,
            feedback: [{ feedback_type: "score", count: 2, avg: 0.5 }],
          },
        ],
        total: { traces: 1, ...figures },
        next_page_token: null,
      },
    },
    response: { 200: tracesQueryResponse },
  },
  tracesFacets: {
    summary: "Count the traces of a window by the values of fields",
    description:
      "Of the traces that `POST /traces/query` selects: how many have which value, and what these cost. A field ignores the " +
      "conditions on itself (members of `filter`, and `$eq` and `$in` at the top of `query`), so that other values can be chosen.",
    success: "The most frequent values of each field, and how many more there are",
    example: {
      request: {
        project_id: "acme/demo",
        ...window,
        fields: ["status", { $getField: "attributes.version" }],
        limit: 1,
      },
      response: {
        facets: [
          {
            field: "status",
            values: [{ value: "success", traces: 12, total_cost: 0.31, partial: false }],
            other: 0,
          },
          {
            field: "attributes.version",
            values: [{ value: "1.4", traces: 11, total_cost: 0.3, partial: false }],
            other: 1,
          },
        ],
      },
    },
    response: { 200: tracesFacetsResponse },
  },
});
