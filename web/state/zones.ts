/** Names that browsers still list by an older one. */
const RENAMED = [
  "Africa/Asmara",
  "America/Argentina/Buenos_Aires",
  "America/Nuuk",
  "Asia/Ho_Chi_Minh",
  "Asia/Kathmandu",
  "Asia/Kolkata",
  "Asia/Yangon",
  "Atlantic/Faroe",
  "Europe/Kyiv",
  "Pacific/Kanton",
];

/** The zones that can be shown, as browser and service know them. */
const ZONES = ["UTC", ...Intl.supportedValuesOf("timeZone"), ...RENAMED.filter(isKnown)];

const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
/** Time zone of the browser; UTC if the list does not have it. */
export const HERE = isZone(timeZone) ? timeZone : "UTC";

/** A place, or UTC. Abbreviations and offsets have no summer, or another one than people think: they are none. */
export function isZone(name: string | undefined): name is string {
  return name !== undefined && (ZONES.includes(name) || (name.includes("/") && isKnown(name)));
}

function isKnown(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).format(0).length > 0;
  } catch {
    return false;
  }
}

/** Zones whose name has all of these words, ignoring case and what joins them; that of the browser first. */
export function zonesLike(text: string): readonly string[] {
  const words = text
    .toLowerCase()
    .split(/[\s_/]+/)
    .filter(Boolean);
  return [...new Set([HERE, ...ZONES])].filter((name) => {
    const plain = name.toLowerCase().replaceAll("_", " ");
    return words.every((word) => plain.includes(word));
  });
}
