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
  "Equal content has an equal digest and is stored once. A response of 200 means that the data is on disk.";

export const objectOperations: Operations = {
  "POST /obj/create": {
    id: "createObject",
    summary: "Store an object by its content",
    description: `New content makes a new version of the object. ${again}`,
    response: "The digest of the version",
    example: { request: { obj }, response: { digest } },
  },
  "POST /obj/read": {
    id: "readObject",
    summary: "An object",
    description: "A version is its digest, `v0`, `v1`, …, or `latest`.",
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
    description: "The versions that match the filter, with their values as stored.",
    response: "The versions",
    truncated: "more versions match than `limit` allows.",
    example: {
      request: { project_id: "acme/demo", filter: { object_ids: ["prompt"], latest_only: true } },
      response: { objs: [storedObj] },
    },
  },
  "POST /refs/read_batch": {
    id: "readRefs",
    summary: "Read the values of references",
    description:
      "A path into a value follows members, list items and table rows, and also references in the value, as far as the key may read them.",
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
    summary: "The bytes of a file",
    description: "A transfer that breaks off is incomplete.",
    response: "The bytes",
    example: { request: { project_id: "acme/demo", digest } },
  },
  "POST /table/create": {
    id: "createTable",
    summary: "Store a table by its content",
    description: `Rows are also stored by their content. ${again}`,
    response: "The digests of the table and of its rows",
    example: {
      request: { table: { project_id: "acme/demo", rows: [{ question: "1 + 1", expected: 2 }] } },
      response: { digest, row_digests: [digest] },
    },
  },
  "POST /table/create_from_digests": {
    id: "createTableFromDigests",
    summary: "Store a table of rows that are already stored",
    description: `The rows were sent before with other tables of the project, as parts of a table that is too large for one request. ${again}`,
    response: "The digest of the table",
    example: { request: { project_id: "acme/demo", row_digests: [] }, response: { digest } },
  },
  "POST /table/update": {
    id: "updateTable",
    summary: "Update a table by adding and removing rows",
    description: `Makes a new table; the original table does not change. ${again}`,
    response: "The digests of the new table and of the rows added or removed",
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
    summary: "Count the rows of a table",
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
    summary: "The W&B queries that the Weave SDKs send before they start",
    description:
      "Supports two queries: the viewer with its default entity, and whether the key may use a project.",
    response: "The viewer or the project, or a GraphQL error",
    example: {
      request: { query: "query { viewer { username defaultEntity { name } } }" },
      response: { data: { viewer: { username: "0123456789ab", defaultEntity: { name: "acme" } } } },
    },
  },
  "GET /health": {
    id: "weaveHealth",
    summary: "The login check of the Weave SDKs",
    description: "Checks the key.",
    response: "The key is valid",
    example: { response: { status: "ok" } },
  },
  "GET /server_info": {
    id: "serverInfo",
    summary: "Get the features that this server offers the Weave SDKs",
    description: "The oldest supported Weave SDK for Python.",
    response: "The version",
    example: { response: { min_required_weave_python_version: "0.0.0" } },
  },
};
