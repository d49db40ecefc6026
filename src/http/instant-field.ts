import { z } from "zod";
import { parseInstant } from "../shared/instant.ts";

/** An instant in a request: ISO 8601, a naive one is UTC. Comes out as microseconds since the epoch. */
export const instantMicros = z.string().transform((text, context) => {
  const micros = parseInstant(text);
  if (micros !== undefined) return micros;
  context.issues.push({
    code: "custom",
    message: "Input should be an ISO 8601 instant",
    params: { type: "datetime_parsing" },
    input: text,
  });
  return z.NEVER;
});

/** The same in milliseconds, rounded down. */
export const instantMs = instantMicros.transform((micros) => Math.floor(micros / 1000));
