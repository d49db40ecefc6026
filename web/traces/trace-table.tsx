import { useLayoutEffect, useMemo, useRef, useState } from "react";
import type { TraceRow } from "../api/routes.ts";
import { decimalsOf } from "../format/figure.ts";
import { RowList } from "../components/row-list.tsx";
import { printAddress, type UrlState } from "../state/url-state.ts";
import { withCondition, type Condition } from "../state/search.ts";
import type { Go } from "../state/use-address.ts";
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
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
  /** The last rows are in sight. */
  readonly onEnd: () => void;
}

/** Costs with more do not widen the column for all. */
const MAX_DECIMALS = 5;

/** The row that was left last, by the address of its list. */
let left:
  | { readonly place: string; readonly traceId: string | undefined; readonly topPx: number }
  | undefined;

export function TraceTable(props: TraceTableProps) {
  const { rows, total, whole, zone, address, go, sort, onSort, onEnd } = props;
  const place = printAddress(address);
  const [active, setActive] = useState(() =>
    Math.max(0, left?.place === place ? rows.findIndex(({ trace_id }) => trace_id === left?.traceId) : 0),
  );
  const decimals = useMemo(
    () => rows.reduce((most, row) => Math.min(MAX_DECIMALS, Math.max(most, decimalsOf(row.total_cost))), 0),
    [rows],
  );
  const list = useRef<HTMLDivElement>(null);
  const latest = useRef({ place, traceId: rows[active]?.trace_id });
  latest.current = { place, traceId: rows[active]?.trace_id };
  useLayoutEffect(() => {
    const scroller = list.current!.querySelector(".rows")!;
    if (left?.place === place) scroller.scrollTop = left.topPx;
    return () => {
      left = { ...latest.current, topPx: scroller.scrollTop };
    };
  }, []);
  const addressOf = ({ trace_id }: TraceRow): UrlState => ({
    ...address,
    view: "trace",
    traceId: trace_id,
    options: keptOptions(address.options),
  });
  const q = address.options["q"] ?? "";
  const withOne = q.trimStart().startsWith("{")
    ? undefined
    : (condition: Condition): string =>
        printAddress({ ...address, options: { ...address.options, q: withCondition(q, condition) } });
  return (
    <div ref={list} className="list">
      <RowList
        id="trace"
        role="grid"
        label="Traces"
        className="traces"
        count={rows.length}
        rowCount={Math.max(total, rows.length)}
        active={active}
        onSeen={(last) => last >= rows.length - 20 && onEnd()}
        onActive={setActive}
        onOpen={(index) => {
          const row = rows[index];
          if (row !== undefined) go(addressOf(row));
        }}
        header={<TraceHead {...{ sort, onSort }} />}
        row={(index) => {
          const row = rows[index];
          if (row === undefined) return null;
          const opened = addressOf(row);
          const ofRoot = { ...opened.options, ...(row.root && { call: row.root.id, tab: "cost" }) };
          return (
            <TraceCells
              {...{ row, zone, whole, decimals }}
              href={printAddress(opened)}
              receiptHref={printAddress({ ...opened, options: ofRoot })}
              withCondition={withOne}
            />
          );
        }}
      />
    </div>
  );
}

/** Keeps window and zone, so that the way back leads to the same list. */
function keptOptions(options: UrlState["options"]): UrlState["options"] {
  const { call: _call, tab: _tab, find: _find, groups: _groups, ...kept } = options;
  return kept;
}
