import type { FastifyRequest } from "fastify";
import type { Tenant } from "../../fairness/tenant.ts";
import type { Grant } from "./grant.ts";

/** Returns the tenant of a request: that of its key, or its address. */
export function tenantOf({ grant, ip }: FastifyRequest): Tenant {
  return (grant as Grant | null)?.tenant ?? { entity: "", key: ip };
}
