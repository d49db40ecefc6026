import type { FastifyReply, FastifyRequest } from "fastify";
import { Counter, type Registry } from "prom-client";
import type { Clock } from "../../shared/clock.ts";

/** Reason a completion is not recorded. `not_a_project`: not in `entity/project` form, such as OpenAI project ids. */
export type UnrecordedReason = "no_project" | "not_a_project";

export type ReportUnrecorded = (
  request: FastifyRequest,
  reply: FastifyReply,
  reason: UnrecordedReason,
) => void;

const LOG_INTERVAL_MS = 60_000;

/** Reports each unrecorded completion: to its client in a header, to the operator in a metric and the log. */
export function createUnrecorded(registry: Registry, clock: Clock): ReportUnrecorded {
  const relayed = new Counter({
    name: "sumtree_gateway_unrecorded_total",
    help: "Completions relayed unrecorded, by reason",
    labelNames: ["reason"],
    registers: [registry],
  });
  let sinceLog = 0;
  let nextLogMs = 0;
  return (request, reply, reason) => {
    relayed.inc({ reason });
    void reply.header("x-sumtree-recorded", `no; reason=${reason}`);
    if (reason === "no_project") return;
    sinceLog++;
    if (clock.now() < nextLogMs) return;
    nextLogMs = clock.now() + LOG_INTERVAL_MS;
    request.log.warn(
      { reason, key_id: request.grant.keyId, count: sinceLog },
      "completion not recorded: project is not entity/project",
    );
    sinceLog = 0;
  };
}
