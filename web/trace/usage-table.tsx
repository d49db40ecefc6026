import { formatUsd, formatCount } from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";
import { costOf, isPriced, totalOf, type LlmUsage, type UsageByLlm } from "../format/usage.ts";
import { Dollars, FormattedValue, Unknown } from "../components/figure.tsx";

const COLUMNS = [
  { name: "requests", count: "requests", cost: undefined },
  { name: "prompt", count: "prompt_tokens", cost: "prompt_tokens_total_cost" },
  { name: "cache read", count: "cache_read_input_tokens", cost: "cache_read_input_tokens_total_cost" },
  {
    name: "cache write",
    count: "cache_creation_input_tokens",
    cost: "cache_creation_input_tokens_total_cost",
  },
  { name: "completion", count: "completion_tokens", cost: "completion_tokens_total_cost" },
  { name: "total", count: "total_tokens", cost: undefined },
] as const;

/** Usage by model, each count with its cost below it. */
export function UsageTable({ caption, usage }: { readonly caption: string; readonly usage: UsageByLlm }) {
  const llms = Object.entries(usage);
  if (llms.length === 0) return <p className="dim">Neither this call nor any below it used a model.</p>;
  return (
    <div className="wide" tabIndex={0} role="region" aria-label={caption}>
      <table className="usage-table">
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">model</th>
            {COLUMNS.map(({ name }) => (
              <th key={name} scope="col" className="number">
                {name}
              </th>
            ))}
            <th scope="col" className="number">
              cost
            </th>
          </tr>
        </thead>
        <tbody>
          {llms.map(([llm, one]) => (
            <tr key={llm}>
              <th scope="row">
                <bdi>{oneLine(llm, 80)}</bdi>
              </th>
              {COLUMNS.map(({ name, count, cost }) => (
                <td key={name} className="number">
                  <FormattedValue figure={formatCount(one[count])} dim={one[count] === 0} />
                  {cost !== undefined && one[count] !== 0 && <Cost llm={llm} usd={one[cost]} />}
                </td>
              ))}
              <td className="number">
                <CostOf llm={llm} usage={one} />
              </td>
            </tr>
          ))}
        </tbody>
        {llms.length > 1 && (
          <tfoot>
            <tr>
              <th scope="row">all</th>
              <td colSpan={COLUMNS.length - 1} />
              <td className="number">
                <FormattedValue figure={formatCount(totalOf(usage).tokens)} />
              </td>
              <td className="number">
                <Dollars total={totalOf(usage)} />
              </td>
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  );
}

function Cost({ llm, usd }: { readonly llm: string; readonly usd: number | null }) {
  return (
    <small className="below">
      {usd === null ? (
        <Unknown why={`no price is known for ${oneLine(llm, 60)}`} />
      ) : (
        <FormattedValue figure={formatUsd(usd)} />
      )}
    </small>
  );
}

function CostOf({ llm, usage }: { readonly llm: string; readonly usage: LlmUsage }) {
  const total = { usd: costOf(usage), unpriced: isPriced(usage) ? [] : [llm] };
  return <Dollars total={total} />;
}
