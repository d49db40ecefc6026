import { useRef, useState } from "preact/hooks";
import { useLoad } from "../api/use-load.ts";
import { RowList } from "../parts/row-list.tsx";
import { printAddress, type Address } from "../state/address.ts";
import type { Go } from "../state/use-address.ts";
import type { Layout } from "./columns.ts";
import { loadMarks } from "./feedback-marks.ts";
import type { TraceRow } from "./load-rows.ts";
import { TraceCells } from "./trace-cells.tsx";
import { TraceHead } from "./trace-head.tsx";
import { loadSizes } from "./trace-sizes.ts";

interface TraceTableProps {
  readonly rows: readonly TraceRow[];
  /** What all traces of the window cost; null: it is not known, or not yet. */
  readonly whole: number | null;
  readonly project: string;
  readonly zone: string;
  readonly address: Address;
  readonly go: Go;
  readonly layout: Layout;
  readonly onLayout: (layout: Layout) => void;
}

export function TraceTable({ rows, whole, project, zone, address, go, layout, onLayout }: TraceTableProps) {
  const [active, setActive] = useState(0);
  const ids = rows.map(({ call }) => call.id);
  const marks = useLoad(`${project}\n${ids.join("\n")}`, (asking) => loadMarks(project, ids, asking));
  const sizes = useSizes(project, rows);
  const addressOf = ({ call }: TraceRow): Address => ({
    ...address,
    view: "trace",
    traceId: call.trace_id,
    options: keptOptions(address.options),
  });
  return (
    <RowList
      id="trace"
      role="grid"
      label="Traces"
      busy={marks.busy || sizes.busy}
      class="traces"
      count={rows.length}
      active={active}
      onActive={setActive}
      onOpen={(index) => {
        const row = rows[index];
        if (row !== undefined) go(addressOf(row));
      }}
      header={<TraceHead {...{ layout, onLayout }} marksFailed={marks.failure !== undefined} />}
      row={(index) => {
        const row = rows[index];
        if (row === undefined) return null;
        return (
          <TraceCells
            {...{ row, zone, layout, whole }}
            mark={marks.value?.get(row.call.id)}
            size={sizes.failure === undefined ? sizes.value?.get(row.call.trace_id) : "unknown"}
            href={printAddress(addressOf(row))}
          />
        );
      }}
    />
  );
}

/** Asked again when a row that is not finished has used more. */
function useSizes(project: string, rows: readonly TraceRow[]) {
  const traceIds = [...new Set(rows.map(({ call }) => call.trace_id))];
  const running = rows.flatMap(({ call, total }) => (call.ended_at === null ? [total.requests] : []));
  const load = useLoad(JSON.stringify([project, traceIds, running]), (asking) =>
    loadSizes(project, traceIds, asking),
  );
  // what is asked again stays until the answer is there
  const last = useRef(load.value);
  last.current = load.value ?? last.current;
  return { ...load, value: last.current };
}

/** Window and zone go along, so that the way back leads to the same list. */
function keptOptions(options: Address["options"]): Address["options"] {
  const { call: _call, tab: _tab, find: _find, fold: _fold, groups: _groups, ...kept } = options;
  return kept;
}
