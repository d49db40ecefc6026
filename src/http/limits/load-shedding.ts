import underPressure from "@fastify/under-pressure";
import type { FastifyInstance } from "fastify";
import { AppError } from "../../shared/errors.ts";

/** Time over which the delay is averaged: a single long task, such as a large body, is no overload. */
const SAMPLE_MS = 5000;

/** Rejects requests while the event loop is overloaded: 503 with `Retry-After`. Public routes always respond. */
export async function registerLoadShedding(app: FastifyInstance, maxEventLoopDelay: number): Promise<void> {
  await app.register(underPressure, {
    maxEventLoopDelay,
    sampleInterval: SAMPLE_MS,
    pressureHandler: async ({ routeOptions }) => {
      if (routeOptions.config.access !== "public")
        throw new AppError("service_overloaded", "Server overloaded. Retry later.", { retryAfterSeconds: 5 });
    },
  });
}
