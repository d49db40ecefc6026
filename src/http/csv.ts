import { stringify } from "csv-stringify/sync";
import type { FastifyReply, FastifyRequest } from "fastify";
import Negotiator from "negotiator";

export const CSV_TYPE = "text/csv; charset=utf-8; header=present";

/** True if the client prefers CSV to JSON. */
export function wantsCsv(request: FastifyRequest): boolean {
  return new Negotiator(request.raw).mediaType(["application/json", "text/csv"]) === "text/csv";
}

/** Sets the headers of a CSV file. */
export function asCsv(reply: FastifyReply, fileName: string): FastifyReply {
  return reply
    .type(CSV_TYPE)
    .header("vary", "accept")
    .header("content-disposition", `attachment; filename="${fileName}"`);
}

/** Formats lines of CSV (RFC 4180). Null is an empty field, empty text is `""`. */
export function csvLines(rows: readonly (readonly (string | number | null)[])[]): string {
  return stringify(rows as unknown[][], { record_delimiter: "windows", cast: { string: quoteEmpty } });
}

function quoteEmpty(text: string): string | { value: string; quoted_empty: true } {
  return text === "" ? { value: text, quoted_empty: true } : text;
}

/** First character of a formula, full-width forms included, after any invisible characters. */
const FORMULA = /^[\s\p{C}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/u;

/** Spreadsheets evaluate text that begins like a formula, so such text gets a leading apostrophe. */
export function csvText(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}
