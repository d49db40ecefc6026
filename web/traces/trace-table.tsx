import { useState } from "preact/hooks";
import { useLoad } from "../api/use-load.ts";
import { clock, fullInstant } from "../numbers/instants.ts";
import { plainNumber, share } from "../numbers/figure.ts";
import { shortName } from "../numbers/op-name.ts";
import { oneLine } from "../numbers/plain-text.ts";
import { Dollars, Duration, Live, Shown, Tokens } from "../parts/figure.tsx";
import { RowList } from "../parts/row-list.tsx";
import { printAddress, type Address } from "../state/address.ts";
import type { Go } from "../state/use-address.ts";
import { loadMarks, type FeedbackMark } from "./feedback-marks.ts";
import type { LoadedTraces, TraceRow } from "./load-traces.ts";

interface TraceTableProps {
  readonly traces: LoadedTraces;
  readonly project: string;
  readonly zone: string;
  readonly address: Address;
  readonly go: Go;
}

export function TraceTable({ traces, project, zone, address, go }: TraceTableProps) {
  const { rows, total } = traces;
  const [active, setActive] = useState(0);
  const ids = rows.map(({ call }) => call.id);
  const marks = useLoad(`${project}\n${ids.join("\n")}`, (asking) => loadMarks(project, ids, asking));
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
      busy={marks.busy}
      class="traces"
      count={rows.length}
      active={active}
      onActive={setActive}
      onOpen={(index) => {
        const row = rows[index];
        if (row !== undefined) go(addressOf(row));
      }}
      header={<Head marksFailed={marks.failure !== undefined} />}
      row={(index) => {
        const row = rows[index];
        if (row === undefined) return null;
        return (
          <Cells
            {...{ row, zone }}
            whole={total.usd}
            mark={marks.value?.get(row.call.id)}
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

function Head({ marksFailed }: { readonly marksFailed: boolean }) {
  return (
    <>
      <span role="columnheader">started</span>
      <span role="columnheader">trace</span>
      <span role="columnheader" class="user">
        user
      </span>
      <span role="columnheader" class="number tokens">
        tokens
      </span>
      <span role="columnheader" class="number">
        cost
      </span>
      <span role="columnheader" class="share">
        of the window
      </span>
      <span role="columnheader" class="number latency">
        latency
      </span>
      <span
        role="columnheader"
        class="number mark"
        title={
          marksFailed
            ? "Feedback could not be read"
            : "Feedback on the root: mean of the first number of its payloads, or how many"
        }
      >
        {marksFailed ? "♥ ?" : "♥"}
        <span class="unseen"> feedback</span>
      </span>
    </>
  );
}

interface CellsProps {
  readonly row: TraceRow;
  readonly zone: string;
  readonly whole: number | null;
  readonly mark: FeedbackMark | undefined;
  readonly href: string;
}

function Cells({ row: { call, total }, zone, whole, mark, href }: CellsProps) {
  const part = total.usd === null || whole === null || whole === 0 ? undefined : total.usd / whole;
  const latency = call.ended_at === null ? null : Date.parse(call.ended_at) - Date.parse(call.started_at);
  const name = shortName(call.op_name, call.display_name);
  return (
    <>
      <span role="gridcell" class="started" title={fullInstant(call.started_at, zone)}>
        {clock(call.started_at, zone, { now: Date.now() })}
      </span>
      <span role="gridcell" class="name">
        {call.exception !== null && (
          <span class="failed" title={oneLine(call.exception)}>
            <span aria-hidden="true">✕</span>
            <span class="unseen">failed: </span>
          </span>
        )}
        <a href={href} tabIndex={-1} title={oneLine(call.op_name)}>
          <bdi>{name}</bdi>
        </a>
        {call.ended_at === null && <Live />}
      </span>
      <span role="gridcell" class="user">
        <bdi title={oneLine(call.wb_user_id ?? "")}>{oneLine(call.wb_user_id ?? "", 60)}</bdi>
      </span>
      <span role="gridcell" class="number tokens">
        <Tokens count={total.tokens} />
      </span>
      <span role="gridcell" class="number cost">
        <Dollars total={total} />
      </span>
      <span role="gridcell" class="share" title={part === undefined ? undefined : share(part).exact}>
        {part !== undefined && <i style={{ width: `${part * 100}%` }} />}
      </span>
      <span role="gridcell" class="number latency">
        {latency === null ? <span class="dim">…</span> : <Duration ms={latency} />}
      </span>
      <span role="gridcell" class="number mark">
        {mark !== undefined && <Mark mark={mark} />}
      </span>
    </>
  );
}

function Mark({ mark: { count, mean, path } }: { readonly mark: FeedbackMark }) {
  if (mean === null) return <span title={`${count} feedbacks without a number`}>{count}</span>;
  const figure = plainNumber(mean);
  return <Shown figure={{ ...figure, exact: `${path ?? ""} ${figure.exact}, mean of ${count}` }} />;
}
