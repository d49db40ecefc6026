import type { FastifyRequest } from "fastify";

/** Whether a request belongs to the gateway, which limits bodies, stalls and open requests itself. */
export function hasOwnLimits({ routeOptions }: FastifyRequest): boolean {
  const { access } = routeOptions.config;
  return access !== undefined && access !== "public" && access.scope === "train";
}
