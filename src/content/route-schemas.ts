import { routeSchemas } from "../http/openapi/route-text.ts";
import * as schema from "./schema.ts";
import * as table from "./table-schema.ts";

const digest = "Jo2sTJ8NTqyYNDZ0VUlB8WvN8qM2l1rDCqtrsQFWbWE";
const obj = {
  project_id: "acme/demo",
  object_id: "prompt",
  val: { _type: "Prompt", text: "Answer briefly." },
};
const storedObj = {
  project_id: "acme/demo",
  object_id: "prompt",
  digest,
  kind: "object",
  base_object_class: null,
  created_at: "2026-01-15T09:30:00.000000Z",
  deleted_at: null,
  version_index: 0,
  is_latest: 1,
  val: obj.val,
};
const durable =
  "Equal content has an equal digest and is stored once. A response of 200 means that the data is on disk.";

/** Route schemas by operation id. */
export const schemas = routeSchemas({
  createObject: {
    summary: "Store an object by its content",
    description: `New content creates a new version of the object. ${durable}`,
    success: "The digest of the version",
    example: { request: { obj }, response: { digest } },
    body: schema.objCreateBody,
    response: { 200: schema.objCreateRes },
  },
  readObject: {
    summary: "Get a version of an object",
    description: "A version is its digest, `v0`, `v1`, …, or `latest`.",
    success: "The object",
    example: {
      request: { project_id: "acme/demo", object_id: "prompt", digest: "latest" },
      response: {
        obj: storedObj,
      },
    },
    body: schema.objReadBody,
    response: { 200: schema.objReadRes },
  },
  listObjects: {
    summary: "List versions of objects",
    description: "The versions that match the filter, with their values as stored.",
    success: "The versions",
    truncated: "more versions match than `limit` allows.",
    example: {
      request: { project_id: "acme/demo", filter: { object_ids: ["prompt"], latest_only: true } },
      response: { objs: [storedObj] },
    },
    body: schema.objsQueryBody,
    response: { 200: schema.objsQueryRes },
  },
  readRefs: {
    summary: "Read the values of references",
    description:
      "A path into a value follows members, list items and table rows, and also references in the value to projects that the key may read.",
    success: "The values, in the order of the references",
    example: {
      request: { refs: ["weave:///acme/demo/object/prompt:latest/attr/text"] },
      response: { vals: [obj.val.text] },
    },
    body: schema.refsReadBody,
    response: { 200: schema.refsReadRes },
  },
  createFile: {
    summary: "Store a file by its content",
    description: `A form with the fields \`project_id\` and \`file\`. ${durable}`,
    success: "The digest of the file",
    example: { response: { digest } },
    consumes: ["multipart/form-data"],
    body: schema.fileCreateForm,
    response: { 200: schema.fileCreateRes },
  },
  readFile: {
    summary: "Get the bytes of a file",
    description: "If the transfer is aborted, the file is incomplete.",
    success: "The bytes",
    example: { request: { project_id: "acme/demo", digest } },
    body: schema.fileContentBody,
    response: { 200: schema.fileContentRes },
  },
  createTable: {
    summary: "Store a table by its content",
    description: `Rows are also stored by their content. ${durable}`,
    success: "The digests of the table and of its rows",
    example: {
      request: { table: { project_id: "acme/demo", rows: [{ question: "1 + 1", expected: 2 }] } },
      response: { digest, row_digests: [digest] },
    },
    body: table.tableCreateBody,
    response: { 200: table.tableCreateRes },
  },
  createTableFromDigests: {
    summary: "Store a table of rows that are already stored",
    description: `Upload the rows first, in other tables of the project, if the table is too large for one request. ${durable}`,
    success: "The digest of the table",
    example: { request: { project_id: "acme/demo", row_digests: [] }, response: { digest } },
    body: table.tableFromDigestsBody,
    response: { 200: table.tableFromDigestsRes },
  },
  updateTable: {
    summary: "Update a table by adding and removing rows",
    description: `Creates a new table; the original table does not change. ${durable}`,
    success: "The digests of the new table and of the rows added or removed",
    example: {
      request: {
        project_id: "acme/demo",
        base_digest: digest,
        updates: [{ append: { row: { question: "1 + 2", expected: 3 } } }],
      },
      response: { digest, updated_row_digests: [digest] },
    },
    body: table.tableUpdateBody,
    response: { 200: table.tableUpdateRes },
  },
  countTableRows: {
    summary: "Count the rows of a table",
    description: "Does not read the rows.",
    success: "The number of rows",
    example: { request: { project_id: "acme/demo", digest }, response: { count: 1 } },
    body: table.tableStatsBody,
    response: { 200: table.tableStatsRes },
  },
  queryTable: {
    summary: "Get rows of a table",
    description: "In the order of the table.",
    success: "The rows",
    example: {
      request: { project_id: "acme/demo", digest, offset: 0, limit: 100 },
      response: { rows: [{ digest, val: { question: "1 + 1", expected: 2 } }] },
    },
    body: table.tableQueryBody,
    response: { 200: table.tableQueryRes },
  },
});
