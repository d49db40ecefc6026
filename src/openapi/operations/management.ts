import type { Operations } from "../operation.ts";

const id = "0123456789ab";
const key = {
  id,
  name: "ingest of the demo",
  scopes: ["ingest"],
  projects: ["acme/demo"],
  created_at: "2026-01-15T09:30:00.000Z",
  expires_at: null,
};

export const managementOperations: Operations = {
  "POST /api-keys": {
    id: "createKey",
    summary: "Make a key; it is shown once",
    description: "Its projects must be among those of the key that makes it.",
    response: "The key",
    example: {
      request: { name: key.name, scopes: key.scopes, projects: key.projects },
      response: { ...key, key: "st_0123456789ab_…" },
    },
  },
  "GET /api-keys": {
    id: "listKeys",
    summary: "The keys in force",
    description: "Those whose projects are all among the projects of the key that asks.",
    response: "The keys",
    example: { response: { api_keys: [{ ...key, last_used_at: null }] } },
  },
  "DELETE /api-keys/{id}": {
    id: "revokeKey",
    summary: "Revoke a key",
    description: "Other replicas learn of it within half a minute.",
    response: "Revoked",
    example: {},
  },
  "GET /me": {
    id: "whoami",
    summary: "What this key may do, and the projects it can see that hold data",
    description: "What a page asks first. A key that may not read is not told of data.",
    response: "The key",
    example: {
      response: {
        id,
        name: key.name,
        scopes: ["read"],
        projects: ["acme/*"],
        expires_at: null,
        projects_with_data: ["acme/demo"],
        truncated: false,
      },
    },
  },
  "POST /backups": {
    id: "createBackup",
    summary: "Copy the embedded store while it runs",
    description:
      "The copy is in a new directory under `BACKUP_DIR`. A store that is a server has backups of its own. One backup runs at a time.",
    response: "Where the copy is",
    example: {
      response: {
        name: "sumtree-20260115T093000Z",
        path: "/var/lib/sumtree/backups/sumtree-20260115T093000Z",
        started_at: "2026-01-15T09:30:00.000Z",
        seconds: 0.5,
        bytes: 300_000_000,
      },
    },
  },
  "DELETE /projects/{entity}/{project}": {
    id: "deleteProject",
    summary: "Delete all that a project has stored",
    description:
      "No answer has it from then on; it leaves the disk in the background, which `GET /deletions/{id}` follows.",
    response: "The receipt of the deletion",
    example: { response: { id, state: "running" } },
  },
  "GET /projects/{entity}/{project}/retention": {
    id: "readRetention",
    summary: "For how many days a project keeps its data",
    description: "Null: for ever.",
    response: "The days",
    example: { response: { days: null } },
  },
  "PUT /projects/{entity}/{project}/retention": {
    id: "setRetention",
    summary: "Set for how many days a project keeps its data",
    description: "Calls and feedback that are older are deleted within the hour.",
    response: "The days",
    example: { request: { days: 90 }, response: { days: 90 } },
  },
  "GET /deletions/{id}": {
    id: "readDeletion",
    summary: "How far a deletion has come",
    description: "`done` means that no part of the store holds the rows any more.",
    response: "The deletion",
    example: {
      response: {
        id,
        project_id: "acme/demo",
        what: "project",
        requested_at: "2026-01-15T09:30:00.000Z",
        state: "running",
        done_at: null,
      },
    },
  },
  "GET /healthz": {
    id: "healthz",
    summary: "The process is up",
    description: "Asks nothing of the store.",
    response: "It is",
    example: { response: { status: "ok" } },
  },
  "GET /readyz": {
    id: "readyz",
    summary: "The store is there, new enough and migrated, and takes writes",
    description: "503 with what is missing, until it is; `reads` and `writes` say which of them can succeed.",
    response: "Ready",
    example: { response: { status: "ok", reads: "ok", writes: "ok" } },
  },
  "GET /readyz/reads": {
    id: "readyzReads",
    summary: "The store can be read",
    description: "Also while it takes no writes.",
    response: "It can",
    example: { response: { status: "ok", reads: "ok", writes: "ok" } },
  },
  "GET /readyz/writes": {
    id: "readyzWrites",
    summary: "The store can be written to",
    description: "503 while too few of its replicas, or their keeper, are there.",
    response: "It can",
    example: { response: { status: "ok", reads: "ok", writes: "ok" } },
  },
  "GET /metrics": {
    id: "metrics",
    summary: "Metrics for Prometheus",
    description: "They are about all projects, and so must the key be.",
    response: "In the text format of Prometheus",
    example: {},
  },
  "GET /openapi.json": {
    id: "openapi",
    summary: "This description",
    description: "OpenAPI 3.1; `/docs` shows it to people.",
    response: "The document",
    example: { response: { openapi: "3.1.0" } },
  },
};
