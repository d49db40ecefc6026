const EMOJI = /^\p{RGI_Emoji}$/v;
/** Also matches emoji without the variation selector for colour. */
const PICTOGRAPH = /\p{Extended_Pictographic}/u;
const SKIN_TONES = /[\u{1F3FB}-\u{1F3FF}]/gu;
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** True for exactly one emoji; flags, keycaps, families and emoji with skin tones count as one. */
export function isOneEmoji(text: string): boolean {
  return EMOJI.test(text) || (PICTOGRAPH.test(text) && [...graphemes.segment(text)].length === 1);
}

/** Removes skin tones. */
export function withoutSkinTones(emoji: string): string {
  return emoji.replaceAll(SKIN_TONES, "");
}
