import { parseJsonText } from "../../shared/escaped-keys.ts";
import { isJsonObject } from "../../shared/json.ts";

const ASK = '"include_usage":true';

/**
 * Sets `stream_options.include_usage` in the raw body; every other byte stays unchanged. `parsed` is the parsed body.
 * Returns `undefined` if the client already sets it or the value is invalid.
 */
export function injectIncludeUsage(
  body: Buffer,
  parsed: Readonly<Record<string, unknown>>,
): Buffer | undefined {
  const options = parsed["stream_options"];
  if (options === undefined) return insertFirst(body, firstBrace(body), `"stream_options":{${ASK}}`);
  const span = lastMember(body, firstBrace(body), "stream_options");
  if (span === undefined) return undefined;
  if (options === null) return replace(body, span, `{${ASK}}`);
  if (!isJsonObject(options)) return undefined;

  const include = options["include_usage"];
  if (include === undefined) return insertFirst(body, span.from, ASK);
  if (include !== false && include !== null) return undefined;
  const flag = lastMember(body, span.from, "include_usage");
  return flag === undefined ? undefined : replace(body, flag, "true");
}

interface Span {
  readonly from: number;
  readonly to: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;

/**
 * Returns the span of a member's value in the object at `open`; the last of equal names, as parsers choose. Requires
 * well-formed JSON.
 */
function lastMember(json: Buffer, open: number, name: string): Span | undefined {
  let found: Span | undefined;
  let depth = 0;
  let key: string | undefined;
  let valueFrom = -1;
  for (let at = open; at < json.length; at++) {
    const byte = json[at]!;
    if (byte === QUOTE) {
      const end = stringEnd(json, at);
      if (depth === 1 && valueFrom === -1) key = parseJsonText(json.toString("utf8", at, end)) as string;
      at = end - 1;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth++;
    } else if (depth === 1 && byte === COLON) {
      valueFrom = at + 1;
    } else if (depth === 1 && (byte === COMMA || byte === CLOSE_BRACE)) {
      if (key === name && valueFrom !== -1) found = trimmed(json, valueFrom, at);
      valueFrom = -1;
      if (byte === CLOSE_BRACE) return found;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth--;
    }
  }
  return undefined;
}

function stringEnd(json: Buffer, quote: number): number {
  let at = quote + 1;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

function firstBrace(json: Buffer): number {
  return json.indexOf(OPEN_BRACE);
}

function trimmed(json: Buffer, from: number, to: number): Span {
  let start = from;
  let end = to;
  while (isSpace(json[start])) start++;
  while (isSpace(json[end - 1])) end--;
  return { from: start, to: end };
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function insertFirst(json: Buffer, open: number, member: string): Buffer {
  let next = open + 1;
  while (isSpace(json[next])) next++;
  const comma = json[next] === CLOSE_BRACE ? "" : ",";
  return Buffer.concat([json.subarray(0, open + 1), Buffer.from(member + comma), json.subarray(open + 1)]);
}

function replace(json: Buffer, span: Span, text: string): Buffer {
  return Buffer.concat([json.subarray(0, span.from), Buffer.from(text), json.subarray(span.to)]);
}
