import { z } from "zod";
import { instantField } from "./fields.ts";
import { wholeNumber, whenValid } from "./zod-issues.ts";
import { invalid } from "../../shared/errors.ts";
import { readInstant } from "../../shared/instant.ts";
import { defaultSizeSeconds, planBuckets, type Buckets, type TimeWindow } from "../../buckets/buckets.ts";
import { openZone, type Zone } from "../../buckets/zone.ts";

/** The first instant with a four-digit year. */
const FIRST_US = Date.parse("0000-01-01T00:00:00Z") * 1000;
const LAST_US = Date.parse("9999-12-31T23:59:59.999Z") * 1000;
/** A century. */
const MAX_GRANULARITY_SECONDS = 3_155_760_000;

/** Parses microseconds since the epoch, in any four-digit year. In distant years, where numbers lack precision, to the ms. */
const instant = instantField((text) => {
  const micros = readInstant(text);
  const isExact = micros === undefined || Number.isSafeInteger(micros);
  const known = isExact ? micros : readInstant(text.replace(/([.,]\d{3})\d+/, "$1"));
  return known !== undefined && known >= FIRST_US && known <= LAST_US ? known : undefined;
}, "0000 to 9999");

/** Fields of a window. */
export const windowFields = {
  start: instant.describe("Inclusive, to the microsecond; a naive instant is UTC"),
  end: instant.nullish().describe("Exclusive. Default: now"),
};

/** Fields of a window's buckets. */
export const bucketFields = {
  ...windowFields,
  granularity: wholeNumber()
    .min(1)
    .max(MAX_GRANULARITY_SECONDS)
    .nullish()
    .describe("Size of a bucket in seconds. Default: by the length of the window"),
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

const REVERSED = "end lies before start";

/** Checks that a window ends after its start. `windowOf` checks a window without an end. */
export const startBeforeEnd = z.superRefine<WindowRequest>(
  ({ start, end }, context) => {
    if (end == null || end >= start) return;
    context.addIssue({ code: "custom", path: ["end"], message: REVERSED });
  },
  whenValid("start", "end"),
);

/** Window and its buckets in a time zone. */
export interface BucketedWindow {
  readonly window: TimeWindow;
  readonly timezone: string;
  readonly zone: Zone;
  readonly buckets: Buckets;
}

/** Returns the window of a request; a missing end is now. Errors: validation if it ends before it starts. */
export function windowOf({ start, end }: WindowRequest, nowMs: number): TimeWindow {
  const window = { startUs: start, endUs: end ?? nowMs * 1000 };
  if (window.endUs >= window.startUs) return window;
  const [member, msg] = end == null ? ["start", "start lies in the future"] : ["end", REVERSED];
  throw invalid([{ loc: ["body", member], msg, type: "value_error" }]);
}

/** Returns the window and its buckets. Errors: those of `windowOf`; validation if a bucket would begin before the year 0000. */
export function bucketsOf(request: BucketRequest, nowMs: number): BucketedWindow {
  const window = windowOf(request, nowMs);
  const { name: timezone, zone } = request.timezone;
  const buckets = planBuckets(window, request.granularity ?? defaultSizeSeconds(window), zone);
  refuseSignedYears(buckets);
  return { window, timezone, zone, buckets };
}

/** Rejects years before 0000, whose sign RFC 3339 does not allow. */
function refuseSignedYears({ startsUs, sizeSeconds }: Buckets): void {
  if (startsUs.length === 0 || startsUs[0]! >= FIRST_US) return;
  const msg = `The bucket of ${sizeSeconds} s that holds start would begin before the year 0000. Use a later start`;
  throw invalid([{ loc: ["body", "start"], msg, type: "value_error" }]);
}
