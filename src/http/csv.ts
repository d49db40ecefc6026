import { stringify } from "csv-stringify/sync";
import type { FastifyReply, FastifyRequest } from "fastify";
import Negotiator from "negotiator";

export const CSV_TYPE = "text/csv; charset=utf-8; header=present";

/** Whether the client would rather have CSV than JSON. */
export function wantsCsv(request: FastifyRequest): boolean {
  return new Negotiator(request.raw).mediaType(["application/json", "text/csv"]) === "text/csv";
}

/** Says of a response that it is CSV, and a file of its own. */
export function asCsv(reply: FastifyReply, fileName: string): FastifyReply {
  return reply
    .type(CSV_TYPE)
    .header("vary", "accept")
    .header("content-disposition", `attachment; filename="${fileName}"`);
}

/** Lines of CSV as RFC 4180 has them. An empty field is what is not known. */
export function csvLines(rows: readonly (readonly (string | number | null)[])[]): string {
  return stringify(rows as unknown[][], { record_delimiter: "windows" });
}

/** A spreadsheet computes what begins like a formula: text of others gets an apostrophe in front. */
export function csvText(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}
