import { isUtf8 } from "node:buffer";
import { hasOddCharset } from "../relay/headers.ts";
import { unreadModelRequest, type ModelRequest } from "./model-request.ts";

/** Longer models and users are not recorded. */
const MAX_FIELD_LENGTH = 256;

export function isForm(contentType: string | undefined): boolean {
  return /^\s*multipart\/form-data\s*(;|$)/i.test(contentType ?? "");
}

/** Reads model, stream and user from form fields; files are not read. */
export function readFormRequest(body: Buffer, contentType: string | undefined): ModelRequest {
  const fields = new Map(
    formFields(body, contentType ?? "")?.filter(([, { length }]) => length <= MAX_FIELD_LENGTH),
  );
  const model = fields.get("model");
  const stream = fields.get("stream") === "true";
  return {
    ...unreadModelRequest(body.length),
    model,
    stream,
    promptBytes: 0,
    userId: fields.get("user"),
    inputs: { ...(model === undefined ? {} : { model }), ...(stream ? { stream } : {}) },
  };
}

const BOUNDARY = /;\s*boundary=(?:"([^"\\]+)"|([^\s;,"]+))\s*(?:;|$)/i;
const DISPOSITION =
  /^content-disposition: *form-data; *name=(?:"([^"\\]*)"|([\w.[\]-]+))(; *filename=(?:"(?:[^"\\]|\\.)*"|[^\s;"]+))?(?:; *filename\*=utf-8''[^\s;]*)?$/i;
const HEADER = /^content-(?:type: *(?!multipart).*|transfer-encoding: *(?:7bit|8bit|binary)|length: *\d+)$/i;
const MAX_FILE_BYTES = 1024;

/** Returns the fields of a form and its smallest files; undefined if servers may read it differently. */
export function formFields(
  body: Buffer,
  contentType: string,
): (readonly [name: string, text: string])[] | undefined {
  const [, quoted, boundary = quoted] = BOUNDARY.exec(contentType) ?? [];
  if (boundary === undefined || contentType.split(/boundary/i).length > 2) return undefined;
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  let at = delimiter.length - 2;
  if (!body.subarray(0, at).equals(delimiter.subarray(2))) return undefined;
  const fields: (readonly [string, string])[] = [];
  while (body.toString("latin1", at, at + 2) === "\r\n") {
    const from = body.indexOf("\r\n\r\n", at) + 4;
    const end = from < 4 ? -1 : body.indexOf(delimiter, from);
    if (end === -1) return undefined;
    const lines = body.toString("utf8", at + 2, from - 4).split("\r\n");
    const [disposition, ...more] = lines.map((line) => DISPOSITION.exec(line)).filter((one) => one !== null);
    const isRead = lines.every(
      (line) => DISPOSITION.test(line) || (HEADER.test(line) && !hasOddCharset(line)),
    );
    if (disposition === undefined || more.length > 0 || !isRead) return undefined;
    const [, inQuotes, name = inQuotes!, file] = disposition;
    const value = body.subarray(from, end);
    if (name === "_charset_" || (file === undefined && !isUtf8(value))) return undefined;
    if (file === undefined || value.length <= MAX_FILE_BYTES)
      fields.push([name.replace(/\[\d*\]$/, ""), value.toString("utf8")]);
    at = end + delimiter.length;
  }
  return /^--\s*$/.test(body.toString("latin1", at)) ? fields : undefined;
}
