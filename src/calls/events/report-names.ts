import type { RequestReport } from "./request-report.ts";

/** Prefix of the names under which `call_keys` holds the traces of reports. */
const PREFIX = "report:";
const SEPARATOR = "\n";
/** Ranks of `REPORT_RANKS` and `CONVERSATION_RANKS`. */
export const RANKS = [0, 1, 2, 3];
const MAX_LENGTH = 256;

/** Name of a report, `report:2 req_011C…`: the reports of one request and rank share it. */
export function reportName({ request, rank }: RequestReport): string {
  return `${PREFIX}${rank} ${request}`;
}

/** Encodes reports for the column `reports`; ids that no provider sends are dropped. */
export function encodeReports(reports: readonly RequestReport[]): string {
  const sane = reports.filter(
    ({ request }) => request !== "" && request.length <= MAX_LENGTH && !request.includes(SEPARATOR),
  );
  return [...new Set(sane.map(reportName))].join(SEPARATOR).toWellFormed();
}

/** Decodes the column: names of reports. */
export function namesIn(column: string | number | undefined): readonly string[] {
  return typeof column === "string" && column !== "" ? column.split(SEPARATOR) : [];
}

/** Names of the reports of the same request with higher ranks. */
export function betterThan(name: string): readonly string[] {
  const { request, rank } = reportOf(name);
  return RANKS.filter((other) => other > rank).map((other) => reportName({ request, rank: other }));
}

/** Names of the reports of the same request with lower ranks. */
export function worseThan(name: string): readonly string[] {
  const { request, rank } = reportOf(name);
  return RANKS.filter((other) => other < rank).map((other) => reportName({ request, rank: other }));
}

/** Decodes a name. */
export function reportOf(name: string): RequestReport {
  return { rank: Number(name[PREFIX.length]), request: name.slice(PREFIX.length + 2) };
}
