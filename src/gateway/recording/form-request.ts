import { unreadModelRequest, type ModelRequest } from "./model-request.ts";

const MAX_FIELD_BYTES = 256;
const HEAD_END = Buffer.from("\r\n\r\n");
const LINE_END = Buffer.from("\r\n");

export function isForm(contentType: string | undefined): boolean {
  return /^\s*multipart\/form-data\s*(;|$)/i.test(contentType ?? "");
}

/** Reads model, stream and user from form fields; files are not read. */
export function readFormRequest(body: Buffer): ModelRequest {
  const model = fieldOf(body, "model");
  const stream = fieldOf(body, "stream") === "true";
  return {
    ...unreadModelRequest(body.length),
    model,
    stream,
    promptBytes: 0,
    userId: fieldOf(body, "user"),
    inputs: { ...(model === undefined ? {} : { model }), ...(stream ? { stream } : {}) },
  };
}

/** Returns a short form field, its name quoted or bare; `undefined` if absent. */
function fieldOf(body: Buffer, name: string): string | undefined {
  for (const written of [`name="${name}"`, `name=${name}\r\n`]) {
    const at = body.indexOf(written);
    const from = at === -1 ? -1 : body.indexOf(HEAD_END, at + written.length - 2);
    if (from === -1) continue;
    const start = from + HEAD_END.length;
    const end = body.indexOf(LINE_END, start);
    if (end > start && end - start <= MAX_FIELD_BYTES) return body.toString("utf8", start, end);
  }
  return undefined;
}
