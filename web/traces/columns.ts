/** The columns beside the name, which takes the remaining width. */
export const COLUMNS = {
  started: { label: "started", px: 112 },
  models: { label: "models", px: 110 },
  user: { label: "user", px: 64 },
  calls: { label: "calls", px: 48 },
  tokens: { label: "tokens", px: 66 },
  cost: { label: "cost", px: 88 },
  share: { label: "share", px: 56 },
  latency: { label: "latency", px: 66 },
  errors: { label: "failed", px: 50 },
  wasted: { label: "wasted", px: 72 },
  mark: { label: "score", px: 46 },
} as const;
export type Column = keyof typeof COLUMNS;
export const COLUMN_NAMES = Object.keys(COLUMNS) as readonly Column[];

export const MIN_PX = 32;
export const MAX_PX = 600;

/** Which columns are hidden, and the widths that were changed. */
export interface Layout {
  readonly hidden: readonly Column[];
  readonly px: Readonly<Partial<Record<Column, number>>>;
}

const NAME = "sumtree-columns-of-traces";
const AS_IT_COMES: Layout = { hidden: [], px: {} };

export function keptLayout(): Layout {
  return readLayout(localStorage.getItem(NAME));
}

export function keepLayout(layout: Layout): void {
  localStorage.setItem(NAME, JSON.stringify(layout));
}

/** Ignores what it does not understand: the browser's store may be older than the page. */
export function readLayout(text: string | null): Layout {
  try {
    const { hidden, px } = JSON.parse(text ?? "{}") as { hidden?: unknown; px?: unknown };
    const widths = typeof px === "object" && px !== null ? Object.entries(px) : [];
    return {
      hidden: COLUMN_NAMES.filter((name) => Array.isArray(hidden) && hidden.includes(name)),
      px: Object.fromEntries(
        widths.flatMap(([name, width]: [string, unknown]) =>
          Object.hasOwn(COLUMNS, name) && typeof width === "number" ? [[name, bounded(width)]] : [],
        ),
      ),
    };
  } catch {
    return AS_IT_COMES;
  }
}

export function widthOf({ px }: Layout, column: Column): number {
  return px[column] ?? COLUMNS[column].px;
}

export function withWidth(layout: Layout, column: Column, px: number): Layout {
  return { ...layout, px: { ...layout.px, [column]: bounded(px) } };
}

export function withShown(layout: Layout, column: Column, isShown: boolean): Layout {
  const others = layout.hidden.filter((name) => name !== column);
  return { ...layout, hidden: isShown ? others : [...others, column] };
}

function bounded(px: number): number {
  return Number.isFinite(px) ? Math.round(Math.min(MAX_PX, Math.max(MIN_PX, px))) : MIN_PX;
}
