import { useEffect, useRef, useState } from "react";
import type { TraceRow } from "../api/routes.ts";
import { RowList } from "../components/row-list.tsx";
import { printAddress, type UrlState } from "../state/url-state.ts";
import type { Go } from "../state/use-address.ts";
import type { Layout } from "./columns.ts";
import { TraceCells } from "./trace-cells.tsx";
import { TraceHead } from "./trace-head.tsx";
import type { Sort } from "./traces-question.ts";

interface TraceTableProps {
  readonly rows: readonly TraceRow[];
  /** How many there are, rows that have not been read included. */
  readonly total: number;
  /** The cost of all traces of the window; null: unknown. */
  readonly whole: number | null;
  readonly zone: string;
  readonly address: UrlState;
  readonly go: Go;
  readonly layout: Layout;
  readonly onLayout: (layout: Layout) => void;
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
  /** The last rows are in sight. */
  readonly onEnd: () => void;
}

/** The row that was left last, by the address of its list. */
let left:
  | { readonly place: string; readonly traceId: string | undefined; readonly topPx: number }
  | undefined;

export function TraceTable(props: TraceTableProps) {
  const { rows, total, whole, zone, address, go, layout, onLayout, sort, onSort, onEnd } = props;
  const place = printAddress(address);
  const [active, setActive] = useState(() =>
    Math.max(0, left?.place === place ? rows.findIndex(({ trace_id }) => trace_id === left?.traceId) : 0),
  );
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const rows = list.current?.querySelector(".rows");
    if (left?.place === place && rows != null) rows.scrollTop = left.topPx;
  }, []);
  const latest = useRef({ place, traceId: rows[active]?.trace_id });
  latest.current = { place, traceId: rows[active]?.trace_id };
  const addressOf = ({ trace_id }: TraceRow): UrlState => ({
    ...address,
    view: "trace",
    traceId: trace_id,
    options: keptOptions(address.options),
  });
  return (
    <div
      ref={list}
      className="list"
      onScrollCapture={(event) => {
        const topPx = (event.target as HTMLElement).scrollTop;
        left = { ...latest.current, topPx };
      }}
      onClickCapture={() => {
        const topPx = list.current?.querySelector(".rows")?.scrollTop ?? 0;
        left = { ...latest.current, topPx };
      }}
    >
      <RowList
        id="trace"
        role="grid"
        label="Traces"
        className="traces"
        count={rows.length}
        rowCount={Math.max(total, rows.length)}
        active={active}
        onSeen={({ last }) => last >= rows.length - 20 && onEnd()}
        onActive={(index) => {
          setActive(index);
          left = { place, traceId: rows[index]?.trace_id, topPx: left?.place === place ? left.topPx : 0 };
        }}
        onOpen={(index) => {
          const row = rows[index];
          if (row !== undefined) go(addressOf(row));
        }}
        header={<TraceHead {...{ layout, onLayout, sort, onSort }} />}
        row={(index) => {
          const row = rows[index];
          if (row === undefined) return null;
          return <TraceCells {...{ row, zone, layout, whole }} href={printAddress(addressOf(row))} />;
        }}
      />
    </div>
  );
}

/** Keeps window and zone, so that the way back leads to the same list. */
function keptOptions(options: UrlState["options"]): UrlState["options"] {
  const { call: _call, tab: _tab, find: _find, fold: _fold, groups: _groups, ...kept } = options;
  return kept;
}
