import { Fragment, type ReactNode } from "react";
import type { TraceRow } from "../api/routes.ts";
import { decimalsOf, formatCount, formatPercent, plainNumber } from "../format/figure.ts";
import { formatTime, fullInstant, minuteOf } from "../format/instants.ts";
import { shortName } from "../format/op-name.ts";
import { oneLine } from "../format/plain-text.ts";
import { Cost, Duration, Live, FormattedValue, Tokens } from "../components/figure.tsx";
import type { Condition } from "../state/search.ts";
import { cellOf, type Column } from "./columns.ts";
import { FAILED } from "./load-facets.ts";

interface TraceCellsProps {
  readonly row: TraceRow;
  readonly zone: string;
  /** The cost of all traces of the window. */
  readonly whole: number | null;
  /** Digits behind the point of the costs, which are aligned at it. */
  readonly decimals: number;
  readonly href: string;
  readonly receiptHref: string;
  /** The URL of the list with one more condition; undefined if the query is JSON. */
  readonly withCondition: ((condition: Condition) => string) | undefined;
}

export function TraceCells(props: TraceCellsProps) {
  const { row, zone, whole, decimals, href, receiptHref, withCondition } = props;
  const { root, failed, partial, total_cost, wasted_cost } = row;
  const part = total_cost === null || whole === null || whole === 0 ? undefined : total_cost / whole;
  const cell = (column: Column, children: ReactNode, title?: string) => (
    <span role="gridcell" {...cellOf(column)} title={title}>
      {children}
    </span>
  );
  return (
    <>
      {cell(
        "started",
        root !== null && <Started at={root.started_at} zone={zone} />,
        root === null ? undefined : fullInstant(root.started_at, zone),
      )}
      <Name row={row} href={href} />
      {cell(
        "models",
        row.models.map((llm, at) => (
          <Fragment key={llm}>
            {at > 0 && ", "}
            <OnlyThese by={{ field: "model" }} value={llm} href={withCondition} />
          </Fragment>
        )),
        oneLine(row.models.join("\n"), 400),
      )}
      {cell(
        "user",
        root?.svc_user_id != null && (
          <OnlyThese by={{ field: "user", ofRoot: true }} value={root.svc_user_id} href={withCondition} />
        ),
      )}
      {cell("calls", <FormattedValue figure={formatCount(row.calls)} />)}
      {cell("tokens", <Tokens count={row.total_tokens} />)}
      {cell(
        "cost",
        <a
          href={partial ? receiptHref : undefined}
          tabIndex={-1}
          style={{ paddingRight: `${Math.max(0, decimals - decimalsOf(total_cost))}ch` }}
        >
          <Cost total={{ total_cost, partial }} />
        </a>,
      )}
      {cell(
        "share",
        part !== undefined && <i style={{ width: `${Math.min(1, part) * 100}%` }} />,
        part === undefined ? undefined : formatPercent(part).exact,
      )}
      {cell("latency", row.latency_ms !== null ? <Duration ms={row.latency_ms} /> : root !== null && "…")}
      {cell(
        "errors",
        <a
          className={failed > 0 ? "failed figure" : "figure dim"}
          tabIndex={-1}
          href={failed > 0 ? withCondition?.(FAILED) : undefined}
          title={`${formatCount(failed).exact} failed${failed > 0 ? ". Click: only traces with a failed call" : ""}`}
        >
          {formatCount(failed).text}
        </a>,
      )}
      {cell("wasted", <Cost total={{ total_cost: wasted_cost, partial: partial && failed > 0 }} />)}
      {cell("mark", <Feedback feedback={row.feedback} />)}
    </>
  );
}

interface OnlyTheseProps {
  readonly by: Pick<Condition, "field" | "ofRoot">;
  readonly value: string;
  readonly href: TraceCellsProps["withCondition"];
}

function OnlyThese({ by, value, href }: OnlyTheseProps) {
  const shown = oneLine(value, 80);
  return (
    <a
      tabIndex={-1}
      href={href?.({ ...by, op: ":", value, isNot: false })}
      title={`${oneLine(value)}. Click: only its traces`}
    >
      <bdi>{shown}</bdi>
    </a>
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

function Name({ row, href }: Pick<TraceCellsProps, "row" | "href">) {
  const { root, trace_id, failed, unfinished } = row;
  const exception = root?.exception ?? null;
  return (
    <span role="gridcell" className="name">
      {exception !== null && <Mark name="failed" sign="✕" why={oneLine(exception)} />}
      {exception === null && failed > 0 && (
        <Mark name="recovered" sign="◇" why="recovered: a call below it failed" />
      )}
      <a href={href} tabIndex={-1} title={oneLine(root?.op_name ?? "")}>
        <bdi>{root === null ? oneLine(trace_id) : shortName(root.op_name ?? "", root.display_name)}</bdi>
      </a>
      {unfinished > 0 && <Live />}
      <bdi className="dim input">{root === null ? "no root" : oneLine(root.input_preview ?? "")}</bdi>
    </span>
  );
}

interface MarkProps {
  readonly name: "failed" | "recovered";
  readonly sign: string;
  readonly why: string;
}

function Mark({ name, sign, why }: MarkProps) {
  return (
    <span className={name} title={why}>
      <span aria-hidden="true">{sign}</span>
      <span className="unseen">{name}: </span>
    </span>
  );
}

/** The first type with a mean, and this; or else a type, and how often. */
function Feedback({ feedback }: Pick<TraceRow, "feedback">) {
  if (feedback.length === 0) return null;
  const { feedback_type, count, avg } = feedback.find(({ avg }) => avg !== undefined) ?? feedback[0]!;
  const said = avg === undefined ? `×${formatCount(count).text}` : plainNumber(avg).text;
  const all = feedback.map(({ feedback_type, count, avg }) =>
    oneLine(`${feedback_type}: ${count}${avg === undefined ? "" : `, mean ${avg}`}`, 80),
  );
  return (
    <span className="figure" title={all.join("; ")}>
      <bdi>{typeName(feedback_type)}</bdi> {said}
    </span>
  );
}

/** `wandb.reaction.1` is a reaction. */
function typeName(type: string): string {
  return oneLine(/^wandb\.(\w+)\.\d+$/.exec(type)?.[1] ?? type, 20);
}
