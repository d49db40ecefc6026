import { z } from "zod";
import { parseInstant } from "../../shared/instant.ts";

export const projectId = z.string().describe("`entity/project`");

/** Integer in a response; above 2^53 the nearest double. */
export const anyInteger = z.number().meta({ type: "integer" });

/** Instant in a response. */
export const isoInstant = z.iso.datetime();

/** Creates a field with an instant, parsed by `read`; undefined becomes an issue. `years`: the accepted ones. */
export function instantField(read: (text: string) => number | undefined, years: string) {
  return z
    .string()
    .meta({ description: `ISO 8601, of the years ${years}; without an offset it is UTC` })
    .transform((text, context) => {
      const instant = read(text);
      if (instant !== undefined) return instant;
      context.issues.push({
        code: "custom",
        message: `Input should be an ISO 8601 instant of the years ${years}`,
        params: { type: "datetime_parsing" },
        input: text,
      });
      return z.NEVER;
    });
}

/** Instant in a request: ISO 8601, UTC without an offset. Parsed to microseconds since the epoch. */
export const instantMicros = instantField(parseInstant, "1900 to 2254");

/** Like `instant`, parsed to milliseconds, rounded down. */
export const instantMs = instantMicros.transform((micros) => Math.floor(micros / 1000));

/**
 * Creates a schema that accepts anything and is documented as any of the named components: for items that are validated one
 * by one, and for responses that are printed without validation.
 */
export function describedAs(...names: readonly string[]) {
  return z.unknown().meta({ anyOf: names.map((name) => ({ $ref: `#/components/schemas/${name}` })) });
}
