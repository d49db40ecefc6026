import type { ComponentChildren } from "preact";
import type { TraceRow } from "../api/routes.ts";
import { plainNumber, formatPercent, formatCount } from "../format/figure.ts";
import { formatTime, fullInstant, minuteOf } from "../format/instants.ts";
import { shortName } from "../format/op-name.ts";
import { oneLine } from "../format/plain-text.ts";
import { Dollars, Duration, Live, FormattedValue, Tokens } from "../components/figure.tsx";
import { widthOf, type Column, type Layout } from "./columns.ts";
import type { FeedbackSummary } from "./feedback-summary.ts";
import { firstText } from "./first-text.ts";

interface TraceCellsProps {
  readonly row: TraceRow;
  readonly zone: string;
  readonly layout: Layout;
  /** The cost of all traces of the window. */
  readonly whole: number | null;
  readonly mark: FeedbackSummary | undefined;
  readonly href: string;
}

export function TraceCells({ row, zone, layout, whole, mark, href }: TraceCellsProps) {
  const { total, unpriced, latency_ms, ended_at } = row;
  const usd = total.total_cost ?? null;
  const part = usd === null || whole === null || whole === 0 ? undefined : usd / whole;
  const user = row.svc_user_id ?? row.svc_user_ids[0] ?? "";
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
      {cell("started", <Started at={row.started_at} zone={zone} />, fullInstant(row.started_at, zone))}
      <Name row={row} href={href} />
      {cell("models", <bdi>{oneLine(row.models.join(", "), 80)}</bdi>, oneLine(row.models.join("\n"), 400))}
      {cell("user", <bdi>{oneLine(user, 60)}</bdi>, oneLine(row.svc_user_ids.join(", ")))}
      {cell("calls", <FormattedValue figure={formatCount(total.calls)} />)}
      {cell("tokens", <Tokens count={total.total_tokens} />)}
      {cell("cost", <Dollars total={{ usd, unpriced: [...new Set(unpriced?.map(({ llm }) => llm))] }} />)}
      {cell(
        "share",
        part !== undefined && <i style={{ width: `${Math.min(1, part) * 100}%` }} />,
        part === undefined ? undefined : formatPercent(part).exact,
      )}
      {cell("latency", ended_at === null ? <span class="dim">…</span> : <Duration ms={latency_ms} />)}
      {cell("errors", <Errors row={row} />)}
      {cell("mark", mark !== undefined && <Mark mark={mark} />)}
    </>
  );
}

/** On a narrow screen, up to the minute. */
function Started({ at, zone }: { readonly at: string; readonly zone: string }) {
  const [minute, rest] = minuteOf(formatTime(at, zone, { now: Date.now() }));
  return (
    <>
      {minute}
      <span class="to-the-ms">{rest}</span>
    </>
  );
}

const LEFT: readonly Column[] = ["started", "models", "user", "share"];

function Name({ row, href }: Pick<TraceCellsProps, "row" | "href">) {
  const { exception, op_name, display_name, inputs_start, unfinished, total } = row;
  const failed = exception ?? (total.errors > 0 ? "a call below it failed" : undefined);
  return (
    <span role="gridcell" class="name">
      {failed !== undefined && (
        <span class={exception === null ? "failed below-it" : "failed"} title={oneLine(failed)}>
          <span aria-hidden="true">✕</span>
          <span class="unseen">failed: </span>
        </span>
      )}
      <a href={href} tabIndex={-1} title={oneLine(op_name ?? "")}>
        <bdi>{shortName(op_name ?? "", display_name)}</bdi>
      </a>
      {unfinished > 0 && <Live />}
      <bdi class="dim input">{firstText(inputs_start)}</bdi>
    </span>
  );
}

function Errors({ row: { total, failed } }: Pick<TraceCellsProps, "row">) {
  const figure = formatCount(total.errors);
  if (total.errors === 0) return <FormattedValue figure={figure} dim />;
  const usd = failed.total_cost ?? null;
  const wasted = usd === null ? "" : `, which used $${usd}`;
  return (
    <span class="failed" title={`${figure.exact} calls failed${wasted}`}>
      {figure.text}
    </span>
  );
}

function Mark({ mark: { count, mean, path } }: { readonly mark: FeedbackSummary }) {
  if (mean === null) return <span title={`${count} feedbacks without a number`}>{count}</span>;
  const figure = plainNumber(mean);
  return <FormattedValue figure={{ ...figure, exact: `${path ?? ""} ${figure.exact}, mean of ${count}` }} />;
}
