import { existsSync, readFileSync } from "node:fs";
import { openZone } from "../../src/buckets/zone.ts";

const TZDATA = "/usr/share/zoneinfo/tzdata.zi";
/** Names kept for old programs, for machines without the database's own list. */
const OLD_NAMES = [
  "Asia/Calcutta",
  "Asia/Katmandu",
  "America/Buenos_Aires",
  "US/Eastern",
  "Cuba",
  "Eire",
  "NZ-CHAT",
];

/** Every zone and link of the machine's tz database that this runtime knows too. */
export function zoneNames(): readonly string[] {
  return [...new Set([...Intl.supportedValuesOf("timeZone"), ...listedNames()])]
    .filter((name) => openZone(name) !== undefined)
    .sort();
}

/** Source: `zic(8)`; zones are `Z name …`, links are `L target name`. */
function listedNames(): readonly string[] {
  if (!existsSync(TZDATA)) return OLD_NAMES;
  return readFileSync(TZDATA, "utf8")
    .split("\n")
    .map((line) => line.split(" "))
    .flatMap(([kind, first, second]) => (kind === "Z" ? [first!] : kind === "L" ? [second!] : []));
}

/** The clock of a zone, read field by field: what its wall clocks show, as milliseconds of a clock without zones. */
export function wallClock(name: string): (ms: number) => number {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: name,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
  return (ms) => {
    const [month, day, year, hour, minute, second] = format.format(ms).split(/\D+/).map(Number) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    return Date.UTC(year, month - 1, day, hour, minute, second) + (ms - Math.floor(ms / 1000) * 1000);
  };
}
