import {
  formatChange,
  formatCount,
  formatDuration,
  formatUsd,
  type FormattedNumber,
} from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";
import type { Total } from "../format/usage.ts";

/** A number with all of its digits on hover. */
export function FormattedValue({
  figure,
  dim = false,
}: {
  readonly figure: FormattedNumber;
  readonly dim?: boolean;
}) {
  return (
    <span className={dim ? "figure dim" : "figure"} title={figure.exact}>
      {figure.text}
    </span>
  );
}

/** An unknown number, and why it is unknown. */
export function Unknown({ why }: { readonly why: string }) {
  return (
    <abbr className="unknown" title={why}>
      —<span className="unseen"> not known: {why}</span>
    </abbr>
  );
}

interface UsedProps {
  readonly total: Total | undefined;
  readonly of: "usd" | "tokens";
  /** It is being loaded. */
  readonly isAdding: boolean;
}

/** Usage of a call, or a placeholder if it is unknown or not loaded. */
export function Used({ total, of, isAdding }: UsedProps) {
  if (total !== undefined) return of === "usd" ? <Dollars total={total} /> : <Tokens count={total.tokens} />;
  return isAdding ? <span className="dim">…</span> : <Unknown why="what the calls used could not be read" />;
}

export function Tokens({ count }: { readonly count: number }) {
  return <FormattedValue figure={formatCount(count)} dim={count === 0} />;
}

/** A sum that leaves something out: "at least". */
function AtLeast({ figure, why }: { readonly figure: FormattedNumber; readonly why: string }) {
  return (
    <abbr className="figure partial" title={`${figure.exact} and ${why}`}>
      ≥ {figure.text}
    </abbr>
  );
}

/** Dollars; "at least" when models without a price are left out, an em dash when there is nothing but them. */
export function Dollars({ total }: { readonly total: Pick<Total, "usd" | "unpriced"> }) {
  const { usd, unpriced } = total;
  if (usd === null) return <Unknown why={`no price is known for ${listed(unpriced)}`} />;
  const figure = formatUsd(usd);
  if (unpriced.length === 0) return <FormattedValue figure={figure} dim={usd === 0} />;
  return <AtLeast figure={figure} why={`what ${listed(unpriced)} cost, whose price is not known`} />;
}

/** Dollars of a total of the service, which says itself whether it leaves something out. */
export interface Billed {
  readonly total_cost?: number | null | undefined;
  readonly partial?: boolean | undefined;
}

export function Cost({ total }: { readonly total: Billed }) {
  const { total_cost: usd = null, partial: isPartial = false } = total;
  if (usd === null) return <Unknown why="no price is known for its models" />;
  if (isPartial) return <AtLeast figure={formatUsd(usd)} why="what models cost whose price is not known" />;
  return <FormattedValue figure={formatUsd(usd)} dim={usd === 0} />;
}

function listed(llms: readonly string[]): string {
  const shown = llms.slice(0, 3).map((llm) => oneLine(llm, 60));
  return llms.length > 3 ? `${shown.join(", ")} and ${llms.length - 3} more` : shown.join(", ");
}

/** The same as text: — · ≥ $1.20 · $1.20. */
export function costText({ total_cost: usd = null, partial: isPartial = false }: Billed): string {
  if (usd === null) return "—";
  return `${isPartial ? "≥ " : ""}${formatUsd(usd).text}`;
}

export function Duration({ ms }: { readonly ms: number | null }) {
  return ms === null ? <Live /> : <FormattedValue figure={formatDuration(ms)} />;
}

/** Marks a number that can still grow. */
export function Live() {
  return (
    <abbr className="live" title="Not finished: this can still grow">
      <span aria-hidden="true">●</span> live
    </abbr>
  );
}

interface ChangeProps {
  /** Undefined: there was nothing; null: it is not known how much it was. */
  readonly before: number | null | undefined;
  readonly now: number | null;
  /** Either leaves something out. */
  readonly isPartial?: boolean;
}

/** By how much a number changed; nothing where that is not known. */
export function Change({ before, now, isPartial = false }: ChangeProps) {
  if (before === undefined) return <>new</>;
  if (before === null || now === null) return null;
  const figure = formatChange(before, now);
  if (figure === undefined) return now > 0 ? <>new</> : null;
  return (
    <span title={isPartial ? `${figure.exact} of what has a price` : figure.exact}>
      {isPartial && "≈ "}
      {figure.text}
    </span>
  );
}
