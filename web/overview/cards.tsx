import type { ReactNode } from "react";
import type { UsageTotal } from "../api/routes.ts";
import { formatDuration, formatPercent, formatCount } from "../format/figure.ts";
import { bucketsOf } from "../components/chart-buckets.ts";
import { Spark } from "../components/spark.tsx";
import { Change, Cost, FormattedValue, Unknown } from "../components/figure.tsx";
import type { OverviewPart } from "./load-overview.ts";

interface Card {
  readonly name: string;
  readonly href: string;
  readonly of: (total: UsageTotal) => number | null;
  readonly show: (total: UsageTotal, isBefore?: boolean) => ReactNode;
  /** The question counts traces; default: calls. */
  readonly isOfTraces?: boolean;
  /** More is worse: shown by shape and by colour. */
  readonly isBad: boolean;
}

export function Cards({ overview, hrefTo }: OverviewPart) {
  const { stats, before, traces, tracesBefore, question } = overview;
  const buckets = bucketsOf(stats, question.zone);
  const cards: readonly Card[] = [
    {
      name: "Spend",
      href: hrefTo("usage", { measure: "cost" }),
      of: ({ total_cost = null }) => total_cost,
      show: (total) => <Cost total={total} />,
      isBad: true,
    },
    {
      name: "Tokens",
      href: hrefTo("usage", { measure: "tokens" }),
      of: ({ total_tokens }) => total_tokens,
      show: ({ total_tokens }) => <FormattedValue figure={formatCount(total_tokens)} />,
      isBad: false,
    },
    {
      name: "Failed traces",
      href: hrefTo("traces", { q: "root.status:failed", sort: "wasted" }),
      of: failureRate,
      show: (total, isBefore) => <Rate {...{ total, isBefore }} />,
      isOfTraces: true,
      isBad: true,
    },
    {
      name: "p95 latency of traces",
      href: hrefTo("usage", { measure: "latency", group: "op_name" }),
      of: p95,
      show(total) {
        const ms = p95(total);
        if (ms === null) return <Unknown why="no trace has ended" />;
        return <FormattedValue figure={formatDuration(ms)} />;
      },
      isOfTraces: true,
      isBad: true,
    },
  ];
  return (
    <ul className="figures">
      {cards.map(({ name, href, of, show, isOfTraces = false, isBad }) => {
        const [now, then] = isOfTraces ? [traces, tracesBefore] : [stats, before];
        return (
          <li key={name}>
            <a href={href}>
              <span className="dim">{name}</span>
              <span className="value">{show(now.total)}</span>
              {then !== undefined && (
                <Changed then={of(then.total)} now={of(now.total)} {...{ isBad }}>
                  {show(then.total, true)}
                </Changed>
              )}
              <Spark buckets={buckets} values={now.buckets.map(({ total }) => of(total))} />
            </a>
          </li>
        );
      })}
    </ul>
  );
}

function failureRate({ traces = 0, traces_failed: failed = 0 }: UsageTotal): number | null {
  return traces === 0 ? null : failed / traces;
}

function p95({ latency_ms }: UsageTotal): number | null {
  return latency_ms?.["p95"] ?? null;
}

function Rate({
  total,
  isBefore = false,
}: {
  readonly total: UsageTotal;
  readonly isBefore?: boolean | undefined;
}) {
  const rate = failureRate(total);
  const { traces = 0, traces_failed: failed = 0, traces_with_failures: withFailures = 0 } = total;
  if (rate === null) return <Unknown why="there are no traces" />;
  if (isBefore) return <FormattedValue figure={formatPercent(rate)} />;
  const recovered = withFailures - failed;
  return (
    <>
      <FormattedValue figure={formatPercent(rate)} />
      <small className="dim">
        {" "}
        {formatCount(failed).text} of {formatCount(traces).text}
        {recovered > 0 && `, ${formatCount(recovered).text} more recovered`}
      </small>
    </>
  );
}

interface ChangedProps {
  readonly then: number | null;
  readonly now: number | null;
  readonly isBad: boolean;
  /** From what. */
  readonly children: ReactNode;
}

/** With an arrow; an increase of what is bad is coloured too. */
function Changed({ then, now, isBad, children }: ChangedProps) {
  if (then === null || now === null) return <span className="dim">no figure before</span>;
  return (
    <span className={isBad && now > then ? "worse" : "dim"}>
      {now > then ? "▲ " : now < then ? "▼ " : ""}
      <Change before={then} now={now} /> <span className="dim">from {children}</span>
    </span>
  );
}
