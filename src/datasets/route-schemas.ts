import { routeSchemas } from "../http/openapi/route-text.ts";
import { exportLine, exportRequest, listRequest, listResponse } from "./schema.ts";

const message = { role: "user", content: "Where is my parcel?" };
const answer = { role: "assistant", content: "It arrives tomorrow." };

/** Routes by operation id. */
export const schemas = routeSchemas({
  exportDataset: {
    summary: "Export calls as examples for training",
    description:
      "Streams NDJSON, oldest first; a response that breaks off is incomplete. One store gives the same bytes. The header " +
      "`x-sumtree-export-id` names its manifest in `POST /dataset/query`, which tells of every selected call. Without any line: 422, " +
      "with the number of calls by reason.",
    success: "One example per line",
    example: {
      request: { project_id: "acme/demo", format: "chat", dedupe: true },
      response: { messages: [message, answer] },
    },
    body: exportRequest,
    response: { 200: { content: { "application/x-ndjson": { schema: exportLine } } } },
  },
  queryDatasets: {
    summary: "List the exported datasets",
    description: "With `export_id`: what became of each call that the export selected.",
    success: "A page of exports, or one export with a page of its calls",
    example: {
      request: { project_id: "acme/demo", limit: 10 },
      response: {
        exports: [
          {
            id: "0198f5e2-0000-4000-8000-0000000000ee",
            created_at: "2026-01-15T09:30:00.000000Z",
            created_by: "key1",
            question: { format: "chat", dedupe: true },
            format: "chat",
            counts: { selected: 3, exported: 1, held_out: 0, left_out: { not_a_chat: 2 } },
            sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            bytes: 104,
            lines: 1,
          },
        ],
        next_page_token: null,
      },
    },
    body: listRequest,
    response: { 200: listResponse },
  },
});
