import { routeSchemas } from "../../http/openapi/route-text.ts";
import { z } from "zod";
import * as schema from "./schema.ts";

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

/** The routes by their operation ids. */
export const schemas = routeSchemas({
  createKey: {
    summary: "Create a key; it is shown only once",
    description:
      "Its projects must be among those of the key that makes it, and it ends with that key: when that one expires, or is revoked.",
    success: "The key",
    example: {
      request: { name: key.name, scopes: key.scopes, projects: key.projects },
      response: { ...key, key: "st_0123456789ab_…" },
    },
    body: schema.newKey,
    response: { 201: schema.createdKey },
  },
  listKeys: {
    summary: "List valid keys",
    description: "Only keys whose projects are all among those of the requesting key.",
    success: "The keys",
    example: { response: { api_keys: [{ ...key, last_used_at: null }] } },
    response: { 200: schema.keyList },
  },
  revokeKey: {
    summary: "Revoke a key",
    description:
      "With all keys that it made, and those that they made. Other replicas notice within ten seconds.",
    success: "Revoked",
    params: schema.keyParams,
    response: { 204: z.undefined() },
  },
});
