import type { FastifyRequest } from "fastify";
import type { Holder } from "../../shares/holder.ts";
import type { Grant } from "./grant.ts";

/** On whose behalf a request comes. Whoever asks without a key is told apart by address. */
export function holderOf({ grant, ip }: FastifyRequest): Holder {
  return (grant as Grant | null)?.holder ?? { project: "", key: ip };
}
