/** Shorter ones are placeholders that stand in ordinary text, such as `EMPTY` for a local server. */
const MIN_LENGTH = 12;

/** Replaces secrets by as many asterisks, so that no length changes. */
export interface SecretMask {
  readonly text: (text: string) => string;
  /** The same bytes, if they have no secret. */
  readonly bytes: (bytes: Buffer) => Buffer;
  /** A mask for bytes that come in pieces: it holds back an end that could begin a secret. */
  pieces(): MaskedPieces;
}

export interface MaskedPieces {
  push(chunk: Buffer): Buffer;
  /** Returns the bytes held back that turned out not to be a secret. */
  end(): Buffer;
}

const NOTHING = Buffer.alloc(0);
const ASTERISK = 0x2a;

/** Each secret is also found in base64, and however JSON, URLs and HTML escape its characters, also one inside another. */
export function secretMask(secrets: readonly string[]): SecretMask {
  const forms = [...new Set(secrets.flatMap(formsOf))].filter((form) => form.length >= MIN_LENGTH);
  const longest = Math.max(0, ...forms.map((form) => form.length));
  const isIn = (text: string): boolean => forms.some((form) => text.includes(form));
  const canEnd = new Set(Buffer.from(`${ESCAPE_ENDS}${forms.join("")}`, "latin1"));
  const isBegunBy = (end: string): boolean =>
    forms.some((form) => form[0] === end[0] && form.startsWith(end));

  const mask = (bytes: Buffer): Buffer => {
    if (!layersOf(bytes.toString("latin1")).some(isIn)) return bytes;
    const masked = Buffer.from(bytes);
    for (const { text, starts } of readingsOf(bytes.toString("latin1"))) {
      for (const form of forms) {
        for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + 1))
          masked.fill(ASTERISK, starts[at], starts[at + form.length]);
      }
    }
    return masked;
  };
  /** Byte offset of the suffix to hold back until the next chunk. */
  const openEnd = (bytes: Buffer): number => {
    if (!canEnd.has(bytes.at(-1) ?? ASTERISK)) return bytes.length;
    const from = Math.max(0, bytes.length - longest * MAX_ESCAPE_LENGTH);
    const readings = readingsOf(bytes.toString("latin1", from));
    return from + Math.min(...readings.map((reading) => openIn(reading, longest, isBegunBy)));
  };
  return {
    text(text) {
      const bytes = Buffer.from(text);
      const masked = mask(bytes);
      return masked === bytes ? text : masked.toString();
    },
    bytes: mask,
    pieces() {
      let held = NOTHING;
      return {
        push(chunk) {
          if (forms.length === 0) return chunk;
          const bytes = mask(held.length === 0 ? chunk : Buffer.concat([held, chunk]));
          const end = openEnd(bytes);
          held = Buffer.from(bytes.subarray(end));
          return end === bytes.length ? bytes : bytes.subarray(0, end);
        },
        end: () => held,
      };
    },
  };
}

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const text = bytes.toString("latin1");
  return bytes.length < MIN_LENGTH ? [] : [text, ...layersOf(text), ...[0, 1, 2].flatMap(inBase64(bytes))];
}

/** The base64 digits that depend on the secret alone, if it starts at an offset of `before` bytes modulo 3. */
const inBase64 =
  (secret: Buffer) =>
  (before: number): string[] => {
    const text = Buffer.concat([Buffer.alloc(before), secret]).toString("base64");
    const sure = text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + secret.length) * 8) / 6));
    return [sure, sure.replaceAll("+", "-").replaceAll("/", "_")];
  };

/** One character as JSON, URLs or HTML escape it; at the end of a piece, perhaps the beginning of such an escape. */
const ESCAPE =
  /\\(?:u([\da-f]{4})|x([\da-f]{2})|([^\w\s]))|%([\da-f]{2})|&(?:#(\d{1,4})|#x([\da-f]{1,4})|(amp|lt|gt|quot|apos));|(?:\\(?:u[\da-f]{0,3}|x[\da-f]?)?|%[\da-f]?|&(?:#x?[\da-f]{0,4}|[a-z]{0,4}))$/gi;
const ESCAPE_ENDS = "\\%&#;0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
/** `\u002B`, with two backslashes more for what is inside another. */
const MAX_ESCAPE_LENGTH = 9;
const MAX_LAYERS = 4;

/** The character; nothing for the beginning of an escape. */
function charOf(...[, u, x, mark, percent, decimal, hex, name]: readonly (string | undefined)[]): string {
  if (mark !== undefined) return mark;
  if (name !== undefined) return NAMED[name.toLowerCase()]!;
  const byte = percent ?? x;
  if (byte !== undefined) return String.fromCharCode(Number.parseInt(byte, 16));
  const code = decimal === undefined ? Number.parseInt(u ?? hex ?? "", 16) : Number(decimal);
  return Number.isNaN(code) ? "" : Buffer.from(String.fromCharCode(code)).toString("latin1");
}

/** A text as it is, and with its escapes read once, twice, and so on. */
function layersOf(text: string): string[] {
  const layers = [text];
  for (let read = text; layers.length <= MAX_LAYERS; layers.push(read)) {
    const before = read;
    read = before.replace(ESCAPE, (...match: string[]) => charOf(...match.slice(0, 8)));
    if (read === before) break;
  }
  return layers;
}

interface Reading {
  readonly text: string;
  /** Byte offset of each character, and of the end. */
  readonly starts: readonly number[];
  /** Byte offset of an incomplete escape at the end; the end if there is none. */
  readonly open: number;
}

/** The layers with their places. */
function readingsOf(bytes: string): Reading[] {
  const readings: Reading[] = [];
  let text = bytes;
  let starts = Array.from({ length: bytes.length + 1 }, (_, at) => at);
  for (let layer = 0; layer <= MAX_LAYERS; layer++) {
    let read = "";
    let open = starts.at(-1)!;
    const readStarts: number[] = [];
    const copy = (from: number, to: number): void => {
      read += text.slice(from, to);
      for (let at = from; at < to; at++) readStarts.push(starts[at]!);
    };
    let from = 0;
    for (const match of text.matchAll(ESCAPE)) {
      copy(from, match.index);
      from = match.index + match[0].length;
      const char = charOf(...match);
      if (char === "") open = starts[match.index]!;
      for (let at = 0; at < char.length; at++) readStarts.push(starts[match.index]!);
      read += char;
    }
    readings.push({ text, starts, open });
    if (from === 0) break;
    copy(from, text.length);
    text = read;
    starts = [...readStarts, Math.min(open, starts.at(-1)!)];
  }
  return readings;
}

/** Byte offset of the suffix that could become a secret or an escape with the next chunk. */
function openIn(
  { text, starts, open }: Reading,
  longest: number,
  isBegunBy: (end: string) => boolean,
): number {
  for (let at = Math.max(0, text.length - longest + 1); at < text.length; at++) {
    if (isBegunBy(text.slice(at))) return Math.min(open, starts[at]!);
  }
  return open;
}
