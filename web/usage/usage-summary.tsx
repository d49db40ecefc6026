import { dollars, share, tokens, type Figure } from "../numbers/figure.ts";
import { span } from "../numbers/instants.ts";
import { oneLine } from "../numbers/plain-text.ts";
import { Shown, Unknown } from "../parts/figure.tsx";
import type { TimeWindow } from "../state/time-window.ts";
import { MEASURES, type LoadedUsage, type Measure } from "./load-usage.ts";

interface UsageSummaryProps {
  readonly loaded: LoadedUsage;
  readonly window: TimeWindow;
  readonly zone: string;
  readonly measure: Measure;
}

/** The total of the view, what it leaves out, and the total of the window before. */
export function UsageSummary({ loaded: { stats, before }, window, zone, measure }: UsageSummaryProps) {
  const { member, label } = MEASURES[measure];
  const [now, then] = [stats.total[member] ?? null, before[member] ?? null];
  const unpriced = stats.unpriced ?? [];
  const isPartial = measure === "cost" && unpriced.length > 0;
  return (
    <p class="answer">
      <span class="sum">
        {isPartial && now !== null && "≥ "}
        {now === null ? (
          <Unknown why="no price is known for any model of this window" />
        ) : (
          <Shown figure={figureOf(measure)(now)} />
        )}
      </span>
      {measure !== "cost" && <span>{label}</span>}
      {measure !== "tokens" && (
        <span>
          <Shown figure={tokens(stats.total.total_tokens)} /> tokens
        </span>
      )}
      {measure !== "calls" && (
        <span>
          <Shown figure={tokens(stats.total.calls)} /> calls
        </span>
      )}
      {stats.total.errors > 0 && <span class="failed">✕ {tokens(stats.total.errors).text} failed</span>}
      <span class="dim">
        {span(window.fromMs, window.toMs ?? Date.parse(stats.end), zone)}, {zone}
      </span>
      <span class="dim">
        before:{" "}
        {then === null ? (
          <Unknown why="no price is known for the window before" />
        ) : (
          <Shown figure={figureOf(measure)(then)} />
        )}
        {now !== null &&
          then !== null &&
          then > 0 &&
          ` (${now >= then ? "+" : "−"}${share(Math.abs(now / then - 1)).text})`}
      </span>
      {unpriced.length > 0 && (
        <span class="unpriced">
          without a price:{" "}
          {unpriced
            .slice(0, 3)
            .map(({ llm, service_tier, total_tokens }) => {
              const tier = service_tier === null ? "" : ` at tier ${oneLine(service_tier, 30)}`;
              return `${oneLine(llm, 60)}${tier} (${tokens(total_tokens).text} tokens)`;
            })
            .join(", ")}
          {unpriced.length > 3 && ` and ${unpriced.length - 3} more models`}
        </span>
      )}
    </p>
  );
}

export function figureOf(measure: Measure): (value: number) => Figure {
  return measure === "cost" ? dollars : tokens;
}
