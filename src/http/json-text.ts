import type { FastifyReply } from "fastify";

export const JSON_TYPE = "application/json; charset=utf-8";

/** Sends JSON text unchanged. The schema only describes the response. */
export function sendJsonText(reply: FastifyReply, text: string): FastifyReply {
  return reply.type(JSON_TYPE).send(text);
}
