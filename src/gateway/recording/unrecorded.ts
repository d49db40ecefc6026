import type { FastifyReply, FastifyRequest } from "fastify";
import { Counter, type Registry } from "prom-client";
import type { Clock } from "../../shared/clock.ts";

/** Why a completion is not recorded. `not_a_project`: the name has another form, such as OpenAI's own project ids. */
export type UnrecordedReason = "no_project" | "not_a_project";

export type ReportUnrecorded = (
  request: FastifyRequest,
  reply: FastifyReply,
  reason: UnrecordedReason,
) => void;

const LOG_INTERVAL_MS = 60_000;

/** Tells of each completion that is relayed unrecorded: its client in a header, the operator in a metric and the log. */
export function createUnrecorded(registry: Registry, clock: Clock): ReportUnrecorded {
  const relayed = new Counter({
    name: "sumtree_gateway_unrecorded_total",
    help: "Completions relayed without being recorded",
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
      "completions are not recorded: they name a project that cannot be one",
    );
    sinceLog = 0;
  };
}
