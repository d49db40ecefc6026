import { cellOf, COLUMNS, sortOfColumn, type Column } from "./columns.ts";
import type { Sort } from "./traces-question.ts";

interface TraceHeadProps {
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
}

/** The column heads. A click sorts the whole window. */
export function TraceHead({ sort, onSort }: TraceHeadProps) {
  const [started, ...others] = (Object.keys(COLUMNS) as Column[]).map((column) => {
    const { label } = COLUMNS[column];
    const by = sortOfColumn(column);
    const isChosen = by === sort || (by === "newest" && sort === "oldest");
    return (
      <span
        key={column}
        role="columnheader"
        {...cellOf(column)}
        aria-sort={isChosen ? (sort === "oldest" ? "ascending" : "descending") : undefined}
      >
        {by === undefined ? (
          label
        ) : (
          <button
            className="sort"
            onClick={() => onSort(by === "newest" && sort === "newest" ? "oldest" : by)}
          >
            {label}
            {isChosen && <span aria-hidden="true">{sort === "oldest" ? " ↑" : " ↓"}</span>}
          </button>
        )}
      </span>
    );
  });
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
