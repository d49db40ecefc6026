import type { FastifyReply } from "fastify";

/** Sends text that is JSON already, past the schema that describes the answer. */
export function sendJsonText(reply: FastifyReply, text: string): FastifyReply {
  return reply.type("application/json; charset=utf-8").send(text);
}
