import { classOf, COLUMN_NAMES, COLUMNS, type Column } from "./columns.ts";
import type { Sort } from "./traces-question.ts";

interface TraceHeadProps {
  readonly hidden: readonly Column[];
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
}

const SORT_OF: Readonly<Partial<Record<Column, Sort>>> = {
  started: "newest",
  calls: "calls",
  tokens: "tokens",
  cost: "cost",
  latency: "latency",
  errors: "errors",
  wasted: "wasted",
};

/** The column heads. A click sorts the whole window. */
export function TraceHead({ hidden, sort, onSort }: TraceHeadProps) {
  const head = (column: Column) => {
    const by = SORT_OF[column];
    const isChosen = by !== undefined && (by === sort || (by === "newest" && sort === "oldest"));
    return (
      <span
        key={column}
        role="columnheader"
        className={classOf(column)}
        style={{ flexBasis: `${COLUMNS[column].px}px` }}
        aria-sort={isChosen ? (sort === "oldest" ? "ascending" : "descending") : undefined}
      >
        {by === undefined ? (
          COLUMNS[column].label
        ) : (
          <button
            className="sort"
            onClick={() => onSort(by === "newest" && sort === "newest" ? "oldest" : by)}
          >
            {COLUMNS[column].label}
            {isChosen && <span aria-hidden="true">{sort === "oldest" ? " ↑" : " ↓"}</span>}
          </button>
        )}
      </span>
    );
  };
  const [started, ...others] = COLUMN_NAMES.map((column) => (hidden.includes(column) ? null : head(column)));
  return (
    <>
      {started}
      <span role="columnheader" className="name">
        trace
      </span>
      {others}
    </>
  );
}
