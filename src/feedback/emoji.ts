const EMOJI = /^\p{RGI_Emoji}$/v;
/** An emoji remains one without its variation selector for colour. */
const PICTOGRAPH = /\p{Extended_Pictographic}/u;
const SKIN_TONES = /[\u{1F3FB}-\u{1F3FF}]/gu;
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** True for exactly one emoji: flags, keycaps, families and skin tones are one each. */
export function isOneEmoji(text: string): boolean {
  return EMOJI.test(text) || (PICTOGRAPH.test(text) && [...graphemes.segment(text)].length === 1);
}

/** The emoji without its skin tones. */
export function withoutSkinTones(emoji: string): string {
  return emoji.replaceAll(SKIN_TONES, "");
}
