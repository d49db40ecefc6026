import { useState } from "preact/hooks";
import { useLoad } from "../api/use-load.ts";
import { RowList } from "../parts/row-list.tsx";
import { printAddress, type Address } from "../state/address.ts";
import type { Go } from "../state/use-address.ts";
import type { Layout } from "./columns.ts";
import { loadMarks } from "./feedback-marks.ts";
import type { TraceRow } from "./load-rows.ts";
import { TraceCells } from "./trace-cells.tsx";
import { TraceHead } from "./trace-head.tsx";
import { useSizes } from "./use-sizes.ts";

interface TraceTableProps {
  readonly rows: readonly TraceRow[];
  /** What they cost is on its way. */
  readonly isAdding: boolean;
  /** What all traces of the window cost; null: it is not known, or not yet. */
  readonly whole: number | null;
  readonly project: string;
  readonly zone: string;
  readonly address: Address;
  readonly go: Go;
  readonly layout: Layout;
  readonly onLayout: (layout: Layout) => void;
}

export function TraceTable(props: TraceTableProps) {
  const { rows, isAdding, whole, project, zone, address, go, layout, onLayout } = props;
  const [active, setActive] = useState(0);
  const ids = rows.map(({ call }) => call.id);
  const marks = useLoad(`${project}\n${ids.join("\n")}`, (asking) => loadMarks(project, ids, asking));
  const { sizes, onSeen } = useSizes(project, rows);
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
      onSeen={onSeen}
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
            {...{ row, isAdding, zone, layout, whole }}
            mark={marks.value?.get(row.call.id)}
            size={sizes.failure === undefined ? sizes.value?.get(row.call.trace_id) : "unknown"}
            href={printAddress(addressOf(row))}
          />
        );
      }}
    />
  );
}

/** Window and zone go along, so that the way back leads to the same list. */
function keptOptions(options: Address["options"]): Address["options"] {
  const { call: _call, tab: _tab, find: _find, fold: _fold, groups: _groups, ...kept } = options;
  return kept;
}
