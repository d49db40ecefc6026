import type { Operations } from "../operation.ts";

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
const again =
  "The same content has the same digest, and is stored once. A response of 200 means that it is on disk.";

export const objectOperations: Operations = {
  "POST /obj/create": {
    id: "createObject",
    summary: "Store an object by its content",
    description: `A new content is a new version of the object. ${again}`,
    response: "The digest of the version",
    example: { request: { obj }, response: { digest } },
  },
  "POST /obj/read": {
    id: "readObject",
    summary: "An object",
    description: "A version is named by its digest, as `v0`, `v1`, …, or as `latest`.",
    response: "The object",
    example: {
      request: { project_id: "acme/demo", object_id: "prompt", digest: "latest" },
      response: {
        obj: storedObj,
      },
    },
  },
  "POST /objs/query": {
    id: "listObjects",
    summary: "Versions of objects",
    description: "Those that pass the filter, with their values as they were stored.",
    response: "The versions",
    truncated: "More versions pass the filter than the limit allows.",
    example: {
      request: { project_id: "acme/demo", filter: { object_ids: ["prompt"], latest_only: true } },
      response: { objs: [storedObj] },
    },
  },
  "POST /refs/read_batch": {
    id: "readRefs",
    summary: "What references lead to",
    description:
      "A way into a value goes through members, items of lists and rows of tables, and through references that stand in it, as far as the key may read.",
    response: "The values, in the order of the references",
    example: {
      request: { refs: ["weave:///acme/demo/object/prompt:latest/attr/text"] },
      response: { vals: [obj.val.text] },
    },
  },
  "POST /file/create": {
    id: "createFile",
    summary: "Store a file by its content",
    description: `A form with the fields \`project_id\` and \`file\`. ${again}`,
    response: "The digest of the file",
    example: { response: { digest } },
  },
  "POST /file/content": {
    id: "readFile",
    summary: "A file's bytes",
    description: "A transfer that breaks off before its end is not complete.",
    response: "The bytes",
    example: { request: { project_id: "acme/demo", digest } },
  },
  "POST /table/create": {
    id: "createTable",
    summary: "Store a table by its content",
    description: `Rows are stored by their content as well. ${again}`,
    response: "The digests of the table and of its rows",
    example: {
      request: { table: { project_id: "acme/demo", rows: [{ question: "1 + 1", expected: 2 }] } },
      response: { digest, row_digests: [digest] },
    },
  },
  "POST /table/create_from_digests": {
    id: "createTableFromDigests",
    summary: "Store a table of rows that are stored already",
    description: `The rows were sent with other tables of the project, in parts of one that is too large for one request. ${again}`,
    response: "The digest of the table",
    example: { request: { project_id: "acme/demo", row_digests: [] }, response: { digest } },
  },
  "POST /table/update": {
    id: "updateTable",
    summary: "A table with some rows more or less",
    description: `Makes a new table; the one it starts from stays as it is. ${again}`,
    response: "The digests of the new table and of the rows that came or went",
    example: {
      request: {
        project_id: "acme/demo",
        base_digest: digest,
        updates: [{ append: { row: { question: "1 + 2", expected: 3 } } }],
      },
      response: { digest, updated_row_digests: [digest] },
    },
  },
  "POST /table/query_stats": {
    id: "countTableRows",
    summary: "How many rows a table has",
    description: "Counted without reading them.",
    response: "The number of rows",
    example: { request: { project_id: "acme/demo", digest }, response: { count: 1 } },
  },
  "POST /table/query": {
    id: "queryTable",
    summary: "Rows of a table",
    description: "In the order of the table.",
    response: "The rows",
    example: {
      request: { project_id: "acme/demo", digest, offset: 0, limit: 100 },
      response: { rows: [{ digest, val: { question: "1 + 1", expected: 2 } }] },
    },
  },
  "POST /graphql": {
    id: "graphql",
    summary: "What the Weave SDKs ask of W&B before they start",
    description:
      "Knows two questions: who the key is, with its default entity; and whether a project is one that the key may use.",
    response: "The viewer or the project, or an error as GraphQL has it",
    example: {
      request: { query: "query { viewer { username defaultEntity { name } } }" },
      response: { data: { viewer: { username: "0123456789ab", defaultEntity: { name: "acme" } } } },
    },
  },
  "GET /health": {
    id: "weaveHealth",
    summary: "What the Weave SDKs ask when they log in",
    description: "Says whether the key is good.",
    response: "The key is good",
    example: { response: { status: "ok" } },
  },
  "GET /server_info": {
    id: "serverInfo",
    summary: "What this server offers the Weave SDKs",
    description: "The oldest Weave SDK for Python that it works with.",
    response: "The version",
    example: { response: { min_required_weave_python_version: "0.0.0" } },
  },
};
