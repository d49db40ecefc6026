import { z } from "zod";
import { instantField } from "./fields.ts";
import { wholeNumber } from "./zod-issues.ts";
import { invalid } from "../shared/errors.ts";
import { readInstant } from "../shared/instant.ts";
import { defaultSizeSeconds, planBuckets, type Buckets, type TimeWindow } from "../buckets/buckets.ts";
import { openZone, type Zone } from "../buckets/zone.ts";

/** The first instant that has a year of four digits. */
const FIRST_MS = Date.parse("0000-01-01T00:00:00Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");
/** A century. */
const MAX_GRANULARITY_SECONDS = 3_155_760_000;

/**
 * Milliseconds since the epoch, of any year that has four digits, rounded down. What is finer is cut off the text:
 * microseconds of far years are no exact numbers.
 */
const instant = instantField((text) => {
  const micros = readInstant(text.replace(/([.,]\d{3})\d+/, "$1"));
  const ms = micros === undefined ? undefined : Math.round(micros / 1000);
  return ms !== undefined && ms >= FIRST_MS && ms <= LAST_MS ? ms : undefined;
});

/** The members of a request about a window. */
export const windowFields = {
  start: instant.describe("Inclusive; a naive instant is UTC"),
  end: instant.nullish().describe("Exclusive. Default: now"),
};

/** The members of a request about the buckets of a window. */
export const bucketFields = {
  ...windowFields,
  granularity: wholeNumber()
    .min(1)
    .max(MAX_GRANULARITY_SECONDS)
    .nullish()
    .describe("Seconds of a bucket. Default: what suits the window"),
  timezone: z
    .string()
    .default("UTC")
    .transform((given, context) => {
      const name = given === "" ? "UTC" : given;
      const zone = openZone(name);
      if (zone !== undefined) return { name, zone };
      context.issues.push({
        code: "custom",
        message: "Input should be a name of the IANA time zone database",
        input: given,
      });
      return z.NEVER;
    }),
};

type WindowRequest = z.output<z.ZodObject<typeof windowFields>>;
type BucketRequest = z.output<z.ZodObject<typeof bucketFields>>;

/** A window and its buckets by the clock of a zone. */
export interface BucketedWindow {
  readonly window: TimeWindow;
  readonly timezone: string;
  readonly zone: Zone;
  readonly buckets: Buckets;
}

/** The window of a request, an omitted end frozen at now. Errors: validation, when it ends before it starts. */
export function windowOf({ start, end }: WindowRequest, nowMs: number): TimeWindow {
  const window = { startMs: start, endMs: end ?? nowMs };
  if (window.endMs >= window.startMs) return window;
  const [member, msg] =
    end == null ? ["start", "start lies in the future"] : ["end", "end lies before start"];
  throw invalid([{ loc: ["body", member], msg, type: "value_error" }]);
}

/** Errors: as `windowOf`; validation, when a bucket would begin before the year 0000. */
export function bucketsOf(request: BucketRequest, nowMs: number): BucketedWindow {
  const window = windowOf(request, nowMs);
  const { name: timezone, zone } = request.timezone;
  const buckets = planBuckets(window, request.granularity ?? defaultSizeSeconds(window), zone);
  refuseSignedYears(buckets);
  return { window, timezone, zone, buckets };
}

/** A year before 0000 has a sign, and is no instant as RFC 3339 writes them. */
function refuseSignedYears({ startsMs, sizeSeconds }: Buckets): void {
  if (startsMs.length === 0 || startsMs[0]! >= FIRST_MS) return;
  const msg = `The bucket of ${sizeSeconds} s that holds start would begin before the year 0000. Ask for a later start`;
  throw invalid([{ loc: ["body", "start"], msg, type: "value_error" }]);
}
