import type { FastifyRequest } from "fastify";

/** Whether a request is the gateway's: it streams both ways, and bounds bodies, stalls and open requests itself. */
export function boundsItself({ routeOptions }: FastifyRequest): boolean {
  const { access } = routeOptions.config;
  return access !== undefined && access !== "public" && access.scope === "train";
}
