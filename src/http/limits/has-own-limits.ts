import type { FastifyContextConfig } from "fastify";

/** True for routes of the gateway, which limit bodies, stalls and open requests themselves. */
export function hasOwnLimits({ access }: FastifyContextConfig): boolean {
  return access !== undefined && access !== "public" && ["gateway", "train"].includes(access.scope);
}
