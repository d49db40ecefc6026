import type { Sort } from "./traces-question.ts";

interface ColumnOfTraces {
  readonly label: string;
  readonly px: number;
  /** Numbers end at the right. */
  readonly isText?: boolean;
  /** A click on the head sorts the whole window. */
  readonly sort?: Sort;
}

/** The columns beside the name, which takes the remaining width. */
export const COLUMNS = {
  started: { label: "started", px: 112, isText: true, sort: "newest" },
  models: { label: "models", px: 100, isText: true },
  user: { label: "user", px: 64, isText: true },
  calls: { label: "calls", px: 48, sort: "calls" },
  tokens: { label: "tokens", px: 66, sort: "tokens" },
  cost: { label: "cost", px: 96, sort: "cost" },
  share: { label: "share", px: 56, isText: true },
  latency: { label: "latency", px: 66, sort: "latency" },
  errors: { label: "failed", px: 50, sort: "errors" },
  wasted: { label: "wasted", px: 72, sort: "wasted" },
  mark: { label: "feedback", px: 92 },
} as const satisfies Readonly<Record<string, ColumnOfTraces>>;
export type Column = keyof typeof COLUMNS;

/** The class and width of a cell. */
export function cellOf(column: Column) {
  const { px, isText = false }: ColumnOfTraces = COLUMNS[column];
  return { className: isText ? column : `number ${column}`, style: { flexBasis: `${px}px` } };
}

/** How a column sorts; undefined: not at all. */
export function sortOfColumn(column: Column): Sort | undefined {
  return (COLUMNS[column] as ColumnOfTraces).sort;
}
