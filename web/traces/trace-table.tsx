import { useState } from "preact/hooks";
import { LoadState } from "../parts/notice.tsx";
import { RowList } from "../parts/row-list.tsx";
import { printAddress, type Address } from "../state/address.ts";
import type { Go } from "../state/use-address.ts";
import type { Layout } from "./columns.ts";
import { loadMarks } from "./feedback-marks.ts";
import { loadUsed, type TraceRow } from "./load-rows.ts";
import { TraceCells } from "./trace-cells.tsx";
import { TraceHead } from "./trace-head.tsx";
import { loadSizes } from "./trace-sizes.ts";
import { useOfSeen, useSeen } from "./use-seen.ts";

interface TraceTableProps {
  readonly rows: readonly TraceRow[];
  /** The question and round that they answer. */
  readonly asked: string;
  /** The cost of all traces of the window; null: unknown, or not yet known. */
  readonly whole: number | null;
  readonly project: string;
  readonly zone: string;
  readonly address: Address;
  readonly go: Go;
  readonly layout: Layout;
  readonly onLayout: (layout: Layout) => void;
}

export function TraceTable(props: TraceTableProps) {
  const { rows, asked, whole, project, zone, address, go, layout, onLayout } = props;
  const [active, setActive] = useState(0);
  const { seen, onSeen } = useSeen(rows);
  const { used, sizes, marks } = useRowDetails(project, seen, asked);
  const addressOf = ({ call }: TraceRow): Address => ({
    ...address,
    view: "trace",
    traceId: call.trace_id,
    options: keptOptions(address.options),
  });
  return (
    <>
      <Unread {...{ used, sizes, marks }} />
      <RowList
        id="trace"
        role="grid"
        label="Traces"
        busy={used.busy || marks.busy || sizes.busy}
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
              {...{ zone, layout, whole }}
              row={{ ...row, total: row.total ?? used.value.get(row.call.id) }}
              isAdding={used.busy}
              mark={marks.value.get(row.call.id)}
              size={sizes.failure === undefined ? sizes.value.get(row.call.trace_id) : "unknown"}
              href={printAddress(addressOf(row))}
            />
          );
        }}
      />
    </>
  );
}

type RowDetails = ReturnType<typeof useRowDetails>;

/** The details that could not be loaded, with one button to ask for all of them again. */
function Unread({ used, sizes, marks }: RowDetails) {
  const failed = [used, sizes, marks].filter(({ failure }) => failure !== undefined);
  const [first] = failed;
  if (first === undefined) return null;
  const what = [
    used.failure && "usage",
    sizes.failure && "number of calls",
    marks.failure && "feedback",
  ].filter((text) => typeof text === "string");
  const again = (): void => failed.forEach((load) => load.again());
  return <LoadState load={{ ...first, again }} shown={`Not loaded: ${what.join(", ")}.`} />;
}

/** Usage, trace size and feedback of the rows in sight. */
function useRowDetails(project: string, seen: readonly TraceRow[], asked: string) {
  const ids = seen.map(({ call }) => call.id);
  const unknown = seen.flatMap(({ call, total }) => (total === undefined ? [call.id] : []));
  const traceIds = [...new Set(seen.map(({ call }) => call.trace_id))];
  // an unfinished trace that has used more has more calls
  const running = seen.flatMap(({ call, total }) => (call.ended_at === null ? [total?.requests ?? 0] : []));
  return {
    used: useOfSeen(project, [asked, unknown], (asking) => loadUsed(project, unknown, asking)),
    sizes: useOfSeen(project, [asked, traceIds, running], (asking) => loadSizes(project, traceIds, asking)),
    marks: useOfSeen(project, [asked, ids], (asking) => loadMarks(project, ids, asking)),
  };
}

/** Keeps window and zone, so that the way back leads to the same list. */
function keptOptions(options: Address["options"]): Address["options"] {
  const { call: _call, tab: _tab, find: _find, fold: _fold, groups: _groups, ...kept } = options;
  return kept;
}
