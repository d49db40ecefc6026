import type { ReactNode } from "react";
import type { TraceRow } from "../api/routes.ts";
import { plainNumber, formatPercent, formatCount } from "../format/figure.ts";
import { formatTime, fullInstant, minuteOf } from "../format/instants.ts";
import { shortName } from "../format/op-name.ts";
import { oneLine } from "../format/plain-text.ts";
import { Cost, Duration, Live, FormattedValue, Tokens } from "../components/figure.tsx";
import { widthOf, type Column, type Layout } from "./columns.ts";

interface TraceCellsProps {
  readonly row: TraceRow;
  readonly zone: string;
  readonly layout: Layout;
  /** The cost of all traces of the window. */
  readonly whole: number | null;
  readonly href: string;
}

export function TraceCells({ row, zone, layout, whole, href }: TraceCellsProps) {
  const { root, failed, partial, total_cost, wasted_cost } = row;
  const part = total_cost === null || whole === null || whole === 0 ? undefined : total_cost / whole;
  const user = oneLine(root?.svc_user_id ?? "", 60);
  const cell = (column: Column, children: ReactNode, title?: string) =>
    layout.hidden.includes(column) ? null : (
      <span
        role="gridcell"
        className={`${LEFT.includes(column) ? "" : "number "}${column}`}
        style={{ flexBasis: `${widthOf(layout, column)}px` }}
        title={title}
      >
        {children}
      </span>
    );
  return (
    <>
      {root === null
        ? cell("started", "")
        : cell("started", <Started at={root.started_at} zone={zone} />, fullInstant(root.started_at, zone))}
      <Name row={row} href={href} />
      {cell("models", <bdi>{oneLine(row.models.join(", "), 80)}</bdi>, oneLine(row.models.join("\n"), 400))}
      {cell("user", <bdi>{user}</bdi>, user)}
      {cell("calls", <FormattedValue figure={formatCount(row.calls)} />)}
      {cell("tokens", <Tokens count={row.total_tokens} />)}
      {cell("cost", <Cost total={{ total_cost, partial }} />)}
      {cell(
        "share",
        part !== undefined && <i style={{ width: `${Math.min(1, part) * 100}%` }} />,
        part === undefined ? undefined : formatPercent(part).exact,
      )}
      {cell("latency", row.latency_ms !== null ? <Duration ms={row.latency_ms} /> : root !== null && "…")}
      {cell(
        "errors",
        <span className={failed > 0 ? "failed" : ""}>
          <FormattedValue figure={formatCount(failed)} dim={failed === 0} />
        </span>,
      )}
      {cell("wasted", <Cost total={{ total_cost: wasted_cost, partial: partial && failed > 0 }} />)}
      {cell("mark", <Feedback feedback={row.feedback} />)}
    </>
  );
}

/** On a narrow screen, up to the minute. */
function Started({ at, zone }: { readonly at: string; readonly zone: string }) {
  const [minute, rest] = minuteOf(formatTime(at, zone, { now: Date.now() }));
  return (
    <>
      {minute}
      <span className="to-the-ms">{rest}</span>
    </>
  );
}

const LEFT: readonly Column[] = ["started", "models", "user", "share"];

function Name({ row, href }: Pick<TraceCellsProps, "row" | "href">) {
  const { root, trace_id, failed, unfinished } = row;
  const exception = root?.exception ?? null;
  return (
    <span role="gridcell" className="name">
      {failed > 0 && (
        <span
          className={exception === null ? "failed below-it" : "failed"}
          title={oneLine(exception ?? "a call below it failed")}
        >
          <span aria-hidden="true">✕</span>
          <span className="unseen">failed: </span>
        </span>
      )}
      <a href={href} tabIndex={-1} title={oneLine(root?.op_name ?? "")}>
        <bdi>{root === null ? oneLine(trace_id) : shortName(root.op_name ?? "", root.display_name)}</bdi>
      </a>
      {unfinished > 0 && <Live />}
      <bdi className="dim input">{root === null ? "no root" : oneLine(root.input_preview ?? "")}</bdi>
    </span>
  );
}

/** The mean of the first type that has one, or else how many there are. */
function Feedback({ feedback }: Pick<TraceRow, "feedback">) {
  if (feedback.length === 0) return null;
  const value = feedback.find(({ avg }) => avg !== undefined)?.avg ?? feedback[0]!.count;
  const all = feedback.map(({ feedback_type, count, avg }) =>
    oneLine(`${feedback_type}: ${count}${avg === undefined ? "" : `, mean ${avg}`}`, 80),
  );
  return <FormattedValue figure={{ ...plainNumber(value), exact: all.join("; ") }} />;
}
