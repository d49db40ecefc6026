import { useRef } from "react";
import { COLUMNS, widthOf, withWidth, type Column, type Layout } from "./columns.ts";
import type { Sort } from "./traces-question.ts";

interface TraceHeadProps {
  readonly layout: Layout;
  readonly onLayout: (layout: Layout) => void;
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
}

const NUMBERS: readonly Column[] = ["calls", "tokens", "cost", "latency", "errors", "wasted", "mark"];
const SORT_OF: Readonly<Partial<Record<Column, Sort>>> = {
  started: "newest",
  calls: "calls",
  tokens: "tokens",
  cost: "cost",
  latency: "latency",
  errors: "errors",
  wasted: "wasted",
};

/** The column heads. A click sorts the whole window; each column but the name can be resized at its edge. */
export function TraceHead({ layout, onLayout, sort, onSort }: TraceHeadProps) {
  const [started, ...others] = (Object.keys(COLUMNS) as Column[]).filter(
    (column) => !layout.hidden.includes(column),
  );
  const head = (column: Column) => {
    const by = SORT_OF[column];
    const isChosen = by !== undefined && (by === sort || (by === "newest" && sort === "oldest"));
    return (
      <span
        key={column}
        role="columnheader"
        className={`${NUMBERS.includes(column) ? "number " : ""}${column}`}
        style={{ flexBasis: `${widthOf(layout, column)}px` }}
        aria-sort={isChosen ? (sort === "oldest" ? "ascending" : "descending") : undefined}
      >
        {by === undefined ? (
          COLUMNS[column].label
        ) : (
          <button
            className="sort"
            tabIndex={-1}
            onClick={() => onSort(by === "newest" && sort === "newest" ? "oldest" : by)}
          >
            {COLUMNS[column].label}
            {isChosen && <span aria-hidden="true">{sort === "oldest" ? " ↑" : " ↓"}</span>}
          </button>
        )}
        <Grip
          px={widthOf(layout, column)}
          // the columns right of the name end at the right: they grow to the left
          grows={column === "started" ? 1 : -1}
          onPx={(px) => onLayout(withWidth(layout, column, px))}
        />
      </span>
    );
  };
  return (
    <>
      {started === "started" && head(started)}
      <span role="columnheader" className="name">
        trace
      </span>
      {(started === "started" || started === undefined ? others : [started, ...others]).map(head)}
    </>
  );
}

interface GripProps {
  readonly px: number;
  readonly grows: 1 | -1;
  readonly onPx: (px: number) => void;
}

/** For pointers alone: the column picker has the widths for the keyboard. */
function Grip({ px, grows, onPx }: GripProps) {
  const from = useRef<{ readonly x: number; readonly px: number } | undefined>(undefined);
  return (
    <span
      className={`grip ${grows === 1 ? "right" : "left"}`}
      aria-hidden="true"
      onPointerDown={(event) => {
        from.current = { x: event.clientX, px };
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (from.current !== undefined) onPx(from.current.px + grows * (event.clientX - from.current.x));
      }}
      onPointerUp={() => (from.current = undefined)}
      onPointerCancel={() => (from.current = undefined)}
    />
  );
}
