/** Stands for what differs from error to error. */
const DIFFERS = "…";

const MAX_CHARS = 300;
const QUOTED = /(?<![\p{L}\p{N}])(["'`])((?:\\.|(?!\1)[^\\])*)\1(?![\p{L}\p{N}])/gu;
/** `'code': 'rate_limit_exceeded'` names an error, other quoted values are of one call. */
const IS_OF_KEY = /["'`]\s*:\s*$/;
const IS_NAME = /^[A-Za-z_]+$/;
/** Words with a digit, UUIDs and long hexadecimal numbers, with the separators between them. */
const ID =
  /(?<![\p{L}\p{N}])(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|[\da-f]{8,}|\p{L}*\p{N}[\p{L}\p{N}]*)/giu;
const IS_STATUS = /^[45]\d\d$/;
const BEFORE_STATUS = /(?:http|status|code|error)[\s:=(]*$/i;
const SEPARATED = new RegExp(`${DIFFERS}(?:[-+_.,:/]${DIFFERS})+`, "gu");

/** Returns the line of an exception that says what failed, without numbers, ids and quoted values: errors with one pattern are one. */
export function patternOf(exception: string): string {
  const message = messageOf(exception).slice(0, MAX_CHARS);
  return message
    .replaceAll(QUOTED, (all: string, quote: string, text: string, at: number) => {
      const isKey = /^\s*:\s/.test(message.slice(at + all.length));
      const isName = IS_NAME.test(text) && (isKey || IS_OF_KEY.test(message.slice(0, at)));
      return isName || text === "" ? all : quote + DIFFERS + quote;
    })
    .replaceAll(ID, (id: string, at: number, text: string) =>
      IS_STATUS.test(id) && BEFORE_STATUS.test(text.slice(0, at)) ? id : DIFFERS,
    )
    .replaceAll(SEPARATED, DIFFERS);
}

/** The first line; of a traceback, the first one below the frames of the last. */
function messageOf(exception: string): string {
  const lines = exception.split(/\r?\n/).filter((line) => line.trim() !== "");
  const last = lines.findLastIndex((line) => line.startsWith("Traceback (most recent call last)"));
  return (lines.slice(last + 1).find((line) => last < 0 || !/^\s/.test(line)) ?? lines[0] ?? "").trim();
}

/** Texts that every error of a pattern contains. */
export function piecesOf(pattern: string): readonly string[] {
  return pattern.split(DIFFERS).filter((piece) => piece.trim() !== "");
}
