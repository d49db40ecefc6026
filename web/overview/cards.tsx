import type { ReactNode } from "react";
import type { UsageTotal } from "../api/routes.ts";
import { formatDuration, formatPercent, formatCount } from "../format/figure.ts";
import { bucketsOf } from "../components/chart-buckets.ts";
import { Spark } from "../components/spark.tsx";
import { Change } from "../components/change.tsx";
import { Cost, FormattedValue, Unknown } from "../components/figure.tsx";
import type { HrefTo } from "../state/url-state.ts";
import type { Overview } from "./load-overview.ts";

interface CardsProps {
  readonly overview: Overview;
  readonly zone: string;
  readonly hrefTo: HrefTo;
}

interface Card {
  readonly name: string;
  readonly href: string;
  readonly of: (total: UsageTotal) => number | null;
  readonly show: (total: UsageTotal) => ReactNode;
  /** More is worse: shown by shape and by colour. */
  readonly isBad: boolean;
}

export function Cards({ overview: { stats, before }, zone, hrefTo }: CardsProps) {
  const buckets = bucketsOf(stats, zone);
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
      name: "Failed calls",
      href: hrefTo("traces", { q: "status:failed", sort: "wasted" }),
      of: failureRate,
      show: (total) => <Rate total={total} />,
      isBad: true,
    },
    {
      name: "p95 latency",
      href: hrefTo("traces", { sort: "latency" }),
      of: p95,
      show(total) {
        const ms = p95(total);
        if (ms === null) return <Unknown why="no call has ended" />;
        return <FormattedValue figure={formatDuration(ms)} />;
      },
      isBad: true,
    },
  ];
  return (
    <ul className="figures">
      {cards.map(({ name, href, of, show, isBad }) => (
        <li key={name}>
          <a href={href}>
            <span className="dim">{name}</span>
            <span className="value">{show(stats.total)}</span>
            <Changed then={before && of(before.total)} now={of(stats.total)} {...{ isBad }} />
            <Spark buckets={buckets} values={stats.buckets.map(({ total }) => of(total))} />
          </a>
        </li>
      ))}
    </ul>
  );
}

function failureRate({ calls, errors }: UsageTotal): number | null {
  return calls === 0 ? null : errors / calls;
}

function p95({ latency_ms }: UsageTotal): number | null {
  return latency_ms?.["p95"] ?? null;
}

function Rate({ total }: { readonly total: UsageTotal }) {
  const rate = failureRate(total);
  if (rate === null) return <Unknown why="there are no calls" />;
  return (
    <>
      <FormattedValue figure={formatPercent(rate)} />
      <small className="dim">
        {" "}
        {formatCount(total.errors).text} / {formatCount(total.calls).text}
      </small>
    </>
  );
}

/** With an arrow; an increase of what is bad is coloured too. */
function Changed({
  then,
  now,
  isBad,
}: {
  then: number | null | undefined;
  now: number | null;
  isBad: boolean;
}) {
  if (then == null || now === null) return <span className="dim">no figure before</span>;
  return (
    <span className={isBad && now > then ? "worse" : "dim"}>
      {now > then ? "▲ " : now < then ? "▼ " : ""}
      <Change before={then} now={now} />
    </span>
  );
}
