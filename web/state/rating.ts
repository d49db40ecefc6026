/** A condition on what feedback says of a call, as the service takes it. */
export interface Rating {
  readonly json_path: string;
  readonly op: "$eq" | "$gt" | "$gte" | "$lt" | "$lte";
  readonly value: string | number | boolean;
}

const OPS = { "=": "$eq", ">": "$gt", ">=": "$gte", "<": "$lt", "<=": "$lte" } as const;
const FORM = /^\s*([^\s<>=]+)\s*(>=|<=|>|<|=)\s*([^\s=].*?)\s*$/u;

/** Pattern of the input of a rating. */
export const RATING_PATTERN = String.raw`\s*[^\s<>=]+\s*(>=|<=|>|<|=)\s*[^\s=].*`;

/** Reads `score >= 0.5`, `passed = true` or `emoji = 👍`; undefined for anything else. */
export function readRating(text: string): Rating | undefined {
  const [, json_path, op, written] = FORM.exec(text) ?? [];
  if (json_path === undefined || op === undefined || written === undefined) return undefined;
  return { json_path, op: OPS[op as keyof typeof OPS], value: valueOf(written) };
}

function valueOf(written: string): Rating["value"] {
  if (written === "true" || written === "false") return written === "true";
  const number = Number(written);
  return Number.isFinite(number) ? number : written.replace(/^"(.*)"$/u, "$1");
}

/** A first guess for a path, by the type of its values. */
export function ratingOf(path: {
  readonly json_path: string;
  readonly value_type: "numeric" | "boolean" | "categorical";
}): string {
  const after = { numeric: ">= 0.5", boolean: "= true", categorical: "= 👍" }[path.value_type];
  return `${path.json_path} ${after}`;
}
