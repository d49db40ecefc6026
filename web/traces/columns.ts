/** The columns beside the name, which takes the remaining width. */
export const COLUMNS = {
  started: { label: "started", px: 112 },
  models: { label: "models", px: 110 },
  user: { label: "user", px: 64 },
  calls: { label: "calls", px: 48 },
  tokens: { label: "tokens", px: 66 },
  cost: { label: "cost", px: 96 },
  share: { label: "share", px: 56 },
  latency: { label: "latency", px: 66 },
  errors: { label: "failed", px: 50 },
  wasted: { label: "wasted", px: 72 },
  mark: { label: "score", px: 46 },
} as const;
export type Column = keyof typeof COLUMNS;
export const COLUMN_NAMES = Object.keys(COLUMNS) as readonly Column[];

const TEXTS: readonly Column[] = ["started", "models", "user", "share"];

/** Numbers end at the right. */
export function classOf(column: Column): string {
  return TEXTS.includes(column) ? column : `number ${column}`;
}

const NAME = "sumtree-columns-of-traces";

/** The columns that were hidden. Ignores what it does not understand: the browser's store may be older than the page. */
export function keptHidden(): readonly Column[] {
  try {
    const { hidden } = JSON.parse(localStorage.getItem(NAME) ?? "{}") as { hidden?: unknown };
    return COLUMN_NAMES.filter((name) => Array.isArray(hidden) && hidden.includes(name));
  } catch {
    return [];
  }
}

export function keepHidden(hidden: readonly Column[]): void {
  localStorage.setItem(NAME, JSON.stringify({ hidden }));
}
