import type { Operations } from "../operation.ts";

const id = "0123456789ab";
const key = {
  id,
  name: "ingest of the demo",
  scopes: ["ingest"],
  projects: ["acme/demo"],
  created_at: "2026-01-15T09:30:00.000Z",
  expires_at: null,
  created_by: "root",
};

export const managementOperations: Operations = {
  "POST /api-keys": {
    id: "createKey",
    summary: "Create a key; it is shown only once",
    description:
      "Its projects must be among those of the key that makes it, and it ends with that key: when that one expires, or is revoked.",
    response: "The key",
    example: {
      request: { name: key.name, scopes: key.scopes, projects: key.projects },
      response: { ...key, key: "st_0123456789ab_…" },
    },
  },
  "GET /api-keys": {
    id: "listKeys",
    summary: "List valid keys",
    description: "Only keys whose projects are all among those of the requesting key.",
    response: "The keys",
    example: { response: { api_keys: [{ ...key, last_used_at: null }] } },
  },
  "DELETE /api-keys/{id}": {
    id: "revokeKey",
    summary: "Revoke a key",
    description:
      "With all keys that it made, and those that they made. Other replicas notice within ten seconds.",
    response: "Revoked",
    example: {},
  },
  "GET /audit": {
    id: "readAudit",
    summary: "List who did what with keys, prices, deletions, retention and backups",
    description:
      "Only entries about projects that are all among those of the requesting key. Entries are kept for two years; nobody can change or delete them.",
    response: "The entries",
    example: {
      response: {
        entries: [
          {
            id: "0b0f9c0e-5a3c-4c8e-9d7a-2f6f4f0f9b11",
            at: "2026-01-15T09:30:00.000001Z",
            action: "key.create",
            projects: ["acme/demo"],
            key_id: "root",
            key_name: "root",
            request_id: "7d1f5d8e-3a55-4b47-8f0b-0c9d5f8a2a10",
            details: { name: key.name, scopes: key.scopes, expires_at: null, id },
            outcome: "done",
            status: 201,
          },
        ],
        next_page_token: null,
      },
    },
  },
  "GET /me": {
    id: "whoami",
    summary: "Get a key's scopes, and the projects it can see that contain data",
    description: "For user interfaces. A key that may not read does not learn which projects contain data.",
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
    summary: "Back up the embedded store while it runs",
    description:
      "Writes a copy into a new directory under `BACKUP_DIR`. For a ClickHouse server, use its own backups. Only one backup runs at a time.",
    response: "The path of the copy",
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
    summary: "Delete everything that a project has stored",
    description:
      "From then on, no response contains it. Its data is deleted from the disk in the background, which `GET /deletions/{id}` follows.",
    response: "The deletion",
    example: { response: { id, state: "running" } },
  },
  "GET /projects/{entity}/{project}/retention": {
    id: "readRetention",
    summary: "Get how many days a project keeps its data",
    description: "Null: forever.",
    response: "The number of days",
    example: { response: { days: null } },
  },
  "PUT /projects/{entity}/{project}/retention": {
    id: "setRetention",
    summary: "Set how many days a project keeps its data",
    description: "Older calls and feedback are deleted within an hour.",
    response: "The number of days",
    example: { request: { days: 90 }, response: { days: 90 } },
  },
  "GET /deletions/{id}": {
    id: "readDeletion",
    summary: "Get the progress of a deletion",
    description: "`done` means that no part of the store contains the rows any more.",
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
    summary: "Check that the process is up",
    description: "Does not access the store.",
    response: "It is",
    example: { response: { status: "ok" } },
  },
  "GET /readyz": {
    id: "readyz",
    summary: "Check that the store is reachable, supported, migrated and writable",
    description: "503 with the reason until then; `reads` and `writes` show which of them can succeed.",
    response: "Ready",
    example: { response: { status: "ok", reads: "ok", writes: "ok" } },
  },
  "GET /readyz/reads": {
    id: "readyzReads",
    summary: "The store can be read",
    description: "Also ready while it cannot be written to.",
    response: "It can",
    example: { response: { status: "ok", reads: "ok", writes: "ok" } },
  },
  "GET /readyz/writes": {
    id: "readyzWrites",
    summary: "The store can be written to",
    description: "503 while too few of its replicas are up, or their keeper is down.",
    response: "It can",
    example: { response: { status: "ok", reads: "ok", writes: "ok" } },
  },
  "GET /metrics": {
    id: "metrics",
    summary: "Metrics for Prometheus",
    description: "They cover all projects, so the key must, too.",
    response: "In the text format of Prometheus",
    example: {},
  },
  "GET /openapi.json": {
    id: "openapi",
    summary: "This description",
    description: "OpenAPI 3.1. `/docs` shows it as a page.",
    response: "The document",
    example: { response: { openapi: "3.1.0" } },
  },
};
