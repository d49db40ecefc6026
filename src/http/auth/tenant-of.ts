import type { FastifyRequest } from "fastify";
import type { Tenant } from "../../fairness/tenant.ts";
import type { Grant } from "./grant.ts";

/** On whose behalf a request comes. Whoever asks without a key is told apart by address. */
export function tenantOf({ grant, ip }: FastifyRequest): Tenant {
  return (grant as Grant | null)?.tenant ?? { project: "", key: ip };
}
