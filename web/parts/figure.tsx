import { dollars, duration, tokens, type Figure } from "../numbers/figure.ts";
import { oneLine } from "../numbers/plain-text.ts";
import type { Total } from "../numbers/usage.ts";

/** A number with all of its digits on hover. */
export function Shown({ figure, dim = false }: { readonly figure: Figure; readonly dim?: boolean }) {
  return (
    <span class={dim ? "figure dim" : "figure"} title={figure.exact} data-exact={figure.exact}>
      {figure.text}
    </span>
  );
}

/** An unknown number, and why it is unknown. */
export function Unknown({ why }: { readonly why: string }) {
  return (
    <abbr class="unknown" title={why}>
      —<span class="unseen"> not known: {why}</span>
    </abbr>
  );
}

export function Tokens({ count }: { readonly count: number }) {
  return <Shown figure={tokens(count)} dim={count === 0} />;
}

/** Dollars; "at least" when models without a price are left out, an em dash when there is nothing but them. */
export function Dollars({ total }: { readonly total: Total }) {
  const { usd, unpriced } = total;
  if (usd === null) return <Unknown why={`no price is known for ${listed(unpriced)}`} />;
  const figure = dollars(usd);
  if (unpriced.length === 0) return <Shown figure={figure} dim={usd === 0} />;
  return (
    <abbr
      class="figure partial"
      data-exact={`≥ ${figure.exact}`}
      title={`${figure.exact} and what ${listed(unpriced)} cost, whose price is not known`}
    >
      ≥ {figure.text}
    </abbr>
  );
}

export function listed(llms: readonly string[]): string {
  const shown = llms.slice(0, 3).map((llm) => oneLine(llm, 60));
  return llms.length > 3 ? `${shown.join(", ")} and ${llms.length - 3} more` : shown.join(", ");
}

export function Duration({ ms }: { readonly ms: number | null }) {
  return ms === null ? <Live /> : <Shown figure={duration(ms)} />;
}

/** Marks a number that can still grow. */
export function Live() {
  return (
    <abbr class="live" title="Not finished: this can still grow">
      <span aria-hidden="true">●</span> live
    </abbr>
  );
}
