import { z } from "zod";
import { parseInstant } from "../shared/instant.ts";

/** A field with an instant, as `read` understands it: what it leaves undefined is a fault. */
export function instantField(read: (text: string) => number | undefined) {
  return z.string().transform((text, context) => {
    const instant = read(text);
    if (instant !== undefined) return instant;
    context.issues.push({
      code: "custom",
      message: "Input should be an ISO 8601 instant",
      params: { type: "datetime_parsing" },
      input: text,
    });
    return z.NEVER;
  });
}

/** An instant in a request: ISO 8601, a naive one is UTC. Comes out as microseconds since the epoch. */
export const instantMicros = instantField(parseInstant);

/** The same in milliseconds, rounded down. */
export const instantMs = instantMicros.transform((micros) => Math.floor(micros / 1000));
