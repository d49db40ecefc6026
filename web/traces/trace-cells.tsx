import type { ComponentChildren } from "preact";
import { plainNumber, share, tokens } from "../numbers/figure.ts";
import { clock, fullInstant, minuteOf } from "../numbers/instants.ts";
import { shortName } from "../numbers/op-name.ts";
import { oneLine } from "../numbers/plain-text.ts";
import { Dollars, Duration, Live, Shown, Tokens, Unknown } from "../parts/figure.tsx";
import { UsedOr } from "../parts/used-or.tsx";
import { widthOf, type Column, type Layout } from "./columns.ts";
import type { FeedbackMark } from "./feedback-marks.ts";
import type { TraceRow } from "./load-rows.ts";
import type { TraceSize } from "./trace-sizes.ts";

interface TraceCellsProps {
  readonly row: TraceRow;
  /** Its cost is being loaded. */
  readonly isAdding: boolean;
  readonly zone: string;
  readonly layout: Layout;
  /** The cost of all traces of the window. */
  readonly whole: number | null;
  readonly mark: FeedbackMark | undefined;
  /** Undefined: still being loaded. */
  readonly size: TraceSize | "unknown" | undefined;
  readonly href: string;
}

export function TraceCells({ row, isAdding, zone, layout, whole, mark, size, href }: TraceCellsProps) {
  const { call, total } = row;
  const part = total?.usd == null || whole === null || whole === 0 ? undefined : total.usd / whole;
  const latency = call.ended_at === null ? null : Date.parse(call.ended_at) - Date.parse(call.started_at);
  const cell = (column: Column, children: ComponentChildren, title?: string) =>
    layout.hidden.includes(column) ? null : (
      <span
        role="gridcell"
        class={`${LEFT.includes(column) ? "" : "number "}${column}`}
        style={{ flexBasis: `${widthOf(layout, column)}px` }}
        title={title}
      >
        {children}
      </span>
    );
  return (
    <>
      {cell("started", <Started at={call.started_at} zone={zone} />, fullInstant(call.started_at, zone))}
      <Name row={row} href={href} />
      {cell("user", <bdi title={oneLine(call.wb_user_id ?? "")}>{oneLine(call.wb_user_id ?? "", 60)}</bdi>)}
      {cell("calls", <Calls size={size} />)}
      {cell("tokens", <UsedOr {...{ total, isAdding }} show={({ tokens }) => <Tokens count={tokens} />} />)}
      {cell("cost", <UsedOr {...{ total, isAdding }} show={(total) => <Dollars total={total} />} />)}
      {cell(
        "share",
        part !== undefined && <i style={{ width: `${part * 100}%` }} />,
        part === undefined ? undefined : share(part).exact,
      )}
      {cell("latency", latency === null ? <span class="dim">…</span> : <Duration ms={latency} />)}
      {cell("errors", <Errors size={size} />)}
      {cell("mark", mark !== undefined && <Mark mark={mark} />)}
    </>
  );
}

/** On a narrow screen, up to the minute. */
function Started({ at, zone }: { readonly at: string; readonly zone: string }) {
  const [minute, rest] = minuteOf(clock(at, zone, { now: Date.now() }));
  return (
    <>
      {minute}
      <span class="to-the-ms">{rest}</span>
    </>
  );
}

const LEFT: readonly Column[] = ["started", "user", "share"];

function Name({ row: { call }, href }: Pick<TraceCellsProps, "row" | "href">) {
  return (
    <span role="gridcell" class="name">
      {call.exception !== null && (
        <span class="failed" title={oneLine(call.exception)}>
          <span aria-hidden="true">✕</span>
          <span class="unseen">failed: </span>
        </span>
      )}
      <a href={href} tabIndex={-1} title={oneLine(call.op_name)}>
        <bdi>{shortName(call.op_name, call.display_name)}</bdi>
      </a>
      {call.ended_at === null && <Live />}
    </span>
  );
}

const UNREAD = "the calls of these traces could not be counted";

function Calls({ size }: Pick<TraceCellsProps, "size">) {
  if (size === "unknown") return <Unknown why={UNREAD} />;
  return size === undefined ? null : <Shown figure={tokens(size.calls)} />;
}

function Errors({ size }: Pick<TraceCellsProps, "size">) {
  if (size === "unknown") return <Unknown why={UNREAD} />;
  if (size === undefined) return null;
  const figure = tokens(size.failed);
  if (size.failed === 0) return <Shown figure={figure} dim />;
  return (
    <span class="failed" title={`${figure.exact} calls failed`}>
      {figure.text}
    </span>
  );
}

function Mark({ mark: { count, mean, path } }: { readonly mark: FeedbackMark }) {
  if (mean === null) return <span title={`${count} feedbacks without a number`}>{count}</span>;
  const figure = plainNumber(mean);
  return <Shown figure={{ ...figure, exact: `${path ?? ""} ${figure.exact}, mean of ${count}` }} />;
}
