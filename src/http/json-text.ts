import type { FastifyReply } from "fastify";

export const JSON_TYPE = "application/json; charset=utf-8";

/** Sends text that is JSON already, past the schema that describes the response. */
export function sendJsonText(reply: FastifyReply, text: string): FastifyReply {
  return reply.type(JSON_TYPE).send(text);
}
