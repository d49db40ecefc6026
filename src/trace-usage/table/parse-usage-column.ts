import { COUNT_SLOTS, countRow } from "../../usage/count-fields.ts";
import { decodeUsage, unitsInColumn } from "../../usage/usage-column.ts";
import type { TextRanges } from "../../store/rows/native-reader.ts";
import { NONE } from "./call-table.ts";
import type { LlmDictionary } from "./llm-dictionary.ts";
import type { UsageEntries } from "./usage-entries.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const BRACKET_CLOSE = 0x5d;
const BRACE_CLOSE = 0x7d;
const ZERO = 0x30;
const ESCAPED = -1;

interface Into {
  /** View of the bytes, for multi-byte integers. */
  readonly view: DataView;
  readonly names: LlmDictionary;
  readonly entries: UsageEntries;
}

/** Parses the column `usage` of some rows; `ends` receives the number of entries after each row. */
export function parseUsageRows(
  source: Buffer,
  { starts, ends: textEnds }: TextRanges,
  { from, to, ends }: { from: number; to: number; ends: Int32Array },
  into: Into,
): void {
  for (let row = from; row < to; row++) {
    parseUsageColumn(source, { start: starts[row]!, end: textEnds[row]! }, into);
    ends[row] = into.entries.length;
  }
}

/**
 * Parses the column `usage` (see `encodeUsage`) from bytes, without strings. Relies on the encoder's form; a name with an
 * escape takes the slow path.
 */
export function parseUsageColumn(
  source: Buffer,
  { start, end }: { start: number; end: number },
  into: Into,
): void {
  if (end - start <= 2) return;
  const { view, names, entries } = into;
  const before = entries.length;
  let at = start + 1;
  while (source[at] !== BRACKET_CLOSE) {
    const nameStart = at + 2; // after `["`
    const known = names.numberAt(view, nameStart);
    const nameEnd = known === NONE ? endOfText(source, nameStart) : nameStart + names.lengthOf(known);
    if (nameEnd === ESCAPED) return parseAgain(source.toString("utf8", start, end), before, into);
    const entry = entries.add(known === NONE ? names.numberOfBytes(source, nameStart, nameEnd) : known);
    at = nameEnd + 2; // after `",`
    const { counts } = entries;
    for (let slot = entry * COUNT_SLOTS, end = slot + COUNT_SLOTS; slot < end; slot++) {
      const digits = at;
      let value = 0;
      for (let byte = source[at]!; byte !== COMMA; byte = source[++at]!)
        value = (Math.imul(value, 10) + byte - ZERO) | 0;
      counts[slot] = at - digits < 10 ? value : Number(source.toString("latin1", digits, at));
      at++;
    }
    entries.cacheOutsidePrompt[entry] = source[at]! - ZERO;
    at++;
    if (source[at] === COMMA) at = parseMore(source, at + 1, entry, into);
    if (at === ESCAPED) return parseAgain(source.toString("utf8", start, end), before, into);
    at++; // after `]`
    if (source[at] === COMMA) at++;
  }
}

/** Reads `"provider","tier",{"unit":1}` and returns its end, or `ESCAPED`. */
function parseMore(source: Buffer, start: number, entry: number, { names, entries }: Into): number {
  const providerEnd = endOfText(source, start + 1);
  const tierEnd = providerEnd === ESCAPED ? ESCAPED : endOfText(source, providerEnd + 3);
  if (tierEnd === ESCAPED) return ESCAPED;
  entries.services[entry] = names.services.numberOfBytes(source, start, tierEnd + 1);
  const unitsStart = tierEnd + 2; // after `",`
  const end = source.indexOf(BRACE_CLOSE, unitsStart) + 1;
  const units = unitsInColumn(source.toString("latin1", unitsStart, end));
  if (units !== undefined) entries.units.set(entry, units);
  return end;
}

/** Finds the quote after a text; `ESCAPED` if the text contains an escape. */
function endOfText(source: Buffer, start: number): number {
  let at = start;
  for (let byte = source[at]!; byte !== QUOTE; byte = source[++at]!) if (byte === BACKSLASH) return ESCAPED;
  return at;
}

function parseAgain(column: string, before: number, { names, entries }: Into): void {
  entries.dropFrom(before);
  for (const usage of decodeUsage(column)) {
    const entry = entries.add(names.numberOf(usage.llm));
    entries.counts.set(countRow(usage), entry * COUNT_SLOTS);
    entries.cacheOutsidePrompt[entry] = usage.cacheOutsidePrompt ? 1 : 0;
    entries.services[entry] = names.services.numberOf(usage.service);
    if (usage.units !== undefined) entries.units.set(entry, usage.units);
  }
}
