import type { UsageTotal } from "../api/routes.ts";
import { counted, formatCount } from "../format/figure.ts";
import { ANY_FAILED, narrowed, RECOVERED, ROOT_FAILED } from "../state/drill.ts";
import type { Condition } from "../state/search.ts";
import type { HrefTo } from "../state/url-state.ts";
import { Cost } from "./figure.tsx";

interface FailedTracesProps {
  readonly total: UsageTotal;
  /** The search. */
  readonly text: string;
  readonly hrefTo: HrefTo;
}

/** ✕ 137 of 2,759 traces failed, 99 more recovered, ≥ $16.87 wasted. */
export function FailedTraces({ total, text, hrefTo }: FailedTracesProps) {
  const { traces = 0, traces_failed: failed = 0, traces_with_failures: withFailures = 0 } = total;
  const to = (conditions: readonly Condition[]): string =>
    hrefTo("traces", { q: narrowed(text, conditions), sort: "wasted" });
  if (withFailures === 0) return null;
  return (
    <span>
      <a className={failed > 0 ? "failed" : ""} href={to([ROOT_FAILED])}>
        {failed > 0 && "✕ "}
        {formatCount(failed).text} of {counted(traces, "trace")} failed
      </a>
      {withFailures > failed && (
        <>
          , <a href={to(RECOVERED)}>{formatCount(withFailures - failed).text} more recovered</a>
        </>
      )}
      ,{" "}
      <a href={to([ANY_FAILED])}>
        <Cost total={{ total_cost: total.wasted_cost, partial: total.partial }} /> wasted
      </a>
    </span>
  );
}
