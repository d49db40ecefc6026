/** `npm run test:long`, or one file with `LONG=1`. */
export const isLong = process.env["LONG"] === "1";

/** How often something random is tried: `few` times in `npm test`, `many` times in a long run. `RUNS` says otherwise for one file. */
export function runs(few: number, many: number): number {
  return Number(process.env["RUNS"] ?? (isLong ? many : few));
}
