import { decodeUsage } from "../../calls/usage.ts";
import type { LlmNames } from "./llm-names.ts";
import { COUNT_SLOTS, type UsageEntries } from "./usage-entries.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const BRACKET_CLOSE = 0x5d;
const ZERO = 0x30;

/**
 * Reads the column `usage` (see `encodeUsage`) from the engine's bytes into entries, without making a string of it. The
 * text is ours, so its form is known; a name with an escape in it takes the long way.
 */
export function parseUsageColumn(
  source: Buffer,
  { start, end }: { start: number; end: number },
  { names, entries }: { names: LlmNames; entries: UsageEntries },
): void {
  if (end - start <= 2) return;
  const before = entries.length;
  let at = start + 1;
  while (source[at] !== BRACKET_CLOSE) {
    const nameStart = at + 2; // after `["`
    let nameEnd = nameStart;
    for (let byte = source[nameEnd]!; byte !== QUOTE; byte = source[++nameEnd]!) {
      if (byte !== BACKSLASH) continue;
      entries.length = before;
      parseWithEscapes(source.toString("utf8", start, end), names, entries);
      return;
    }
    const entry = entries.add(names.numberOfBytes(source, nameStart, nameEnd));
    at = nameEnd + 2; // after `",`
    for (let slot = 0; slot < COUNT_SLOTS; slot++) {
      const digits = at;
      let value = 0;
      for (; source[at] !== COMMA; at++) value = value * 10 + (source[at]! - ZERO);
      if (value > Number.MAX_SAFE_INTEGER) value = Number(source.toString("latin1", digits, at));
      entries.counts[entry * COUNT_SLOTS + slot] = value;
      at++;
    }
    entries.cacheOutsidePrompt[entry] = source[at]! - ZERO;
    at += 2; // after `0]`
    if (source[at] === COMMA) at++;
  }
}

function parseWithEscapes(column: string, names: LlmNames, entries: UsageEntries): void {
  for (const usage of decodeUsage(column)) {
    const entry = entries.add(names.numberOf(usage.llm));
    entries.counts.set(
      [
        usage.requests,
        usage.promptTokens,
        usage.completionTokens,
        usage.totalTokens,
        usage.cacheReadTokens,
        usage.cacheCreationTokens,
      ],
      entry * COUNT_SLOTS,
    );
    entries.cacheOutsidePrompt[entry] = usage.cacheOutsidePrompt ? 1 : 0;
  }
}
