import { useState } from "react";
import { postJson, change } from "../api/client.ts";
import type { Price, UsageStats } from "../api/routes.ts";
import { useQuery } from "../api/use-query.ts";
import { counted, formatUsd } from "../format/figure.ts";
import { fullInstant } from "../format/instants.ts";
import { oneLine } from "../format/plain-text.ts";
import { toPicodollar } from "../format/usage.ts";
import { FormattedValue } from "../components/figure.tsx";
import { LoadState } from "../components/notice.tsx";
import type { UrlState } from "../state/url-state.ts";
import type { Go } from "../state/use-address.ts";
import { Confirm } from "./confirm.tsx";
import { PriceForm } from "./price-form.tsx";

interface PricesProps {
  readonly project: string;
  readonly zone: string;
  readonly address: UrlState;
  readonly go: Go;
  readonly maySet: boolean;
}

const DAYS_MS = 30 * 86_400_000;

/** Models without a price first, then the prices that the project has set. */
export function Prices({ project, zone, address, go, maySet }: PricesProps) {
  const [removed, setRemoved] = useState<Price | undefined>(undefined);
  const { options } = address;
  const load = useQuery(`prices\n${project}`, async (asking) => {
    const start = new Date(Date.now() - DAYS_MS).toISOString();
    const [stats, prices] = await Promise.all([
      postJson({ path: "/usage/stats", body: { project_id: project, start, include_costs: true } }, asking),
      postJson({ path: "/cost/query", body: { project_id: project } }, asking),
    ]);
    return { unpriced: stats.body.unpriced ?? [], prices: prices.body.results };
  });
  const edit = (more: UrlState["options"]): void =>
    go({ options: { ...options, model: "", tier: "", price: "", ...more } });
  const done = (): void => {
    edit({});
    load.refetch();
  };
  const isEditing = maySet && ((options["model"] ?? "") !== "" || options["price"] === "new");
  return (
    <section aria-busy={load.busy}>
      <h2>Prices</h2>
      <LoadState load={load} />
      {load.value?.unpriced.length === 0 && (
        <p className="dim">Every model of the last 30 days has a price.</p>
      )}
      {load.value !== undefined && load.value.unpriced.length > 0 && (
        <UnpricedTable
          unpriced={load.value.unpriced}
          onSet={maySet ? (llm, tier) => edit({ model: llm, tier: tier ?? "" }) : undefined}
        />
      )}
      {load.value !== undefined && load.value.prices.length > 0 && (
        <div className="wide" tabIndex={0} role="region" aria-label="Prices of this project">
          <PriceTable prices={load.value.prices} zone={zone} onRemove={maySet ? setRemoved : undefined} />
        </div>
      )}
      {load.value?.prices.length === 0 && (
        <p className="dim">This project has set no price of its own: the built-in list holds.</p>
      )}
      {maySet && (
        <div className="tools">
          <button onClick={() => edit({ price: "new" })}>New price</button>
        </div>
      )}
      {isEditing && (
        <PriceForm
          {...{ project, zone }}
          model={options["model"] ?? ""}
          tier={options["tier"] || null}
          onDone={done}
          onClose={() => edit({})}
        />
      )}
      {removed !== undefined && (
        <Confirm
          title={`Remove the price of ${oneLine(removed.llm_id ?? "", 60)}?`}
          text="Calls that it applied to get the price that held before it, or none. Past sums change."
          label="Remove"
          act={() => {
            const query = { $expr: { $eq: [{ $getField: "id" }, { $literal: removed.id }] } };
            return change("POST", "/cost/purge", { project_id: project, query });
          }}
          onDone={() => {
            setRemoved(undefined);
            load.refetch();
          }}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </section>
  );
}

interface UnpricedTableProps {
  readonly unpriced: NonNullable<UsageStats["unpriced"]>;
  readonly onSet: ((llm: string, tier: string | null) => void) | undefined;
}

function UnpricedTable({ unpriced, onSet }: UnpricedTableProps) {
  return (
    <table className="plain">
      <caption>Without a price, in the last 30 days</caption>
      <tbody>
        {unpriced.map(({ llm, service_tier, total_tokens, requests }) => (
          <tr key={`${llm}\n${service_tier}`}>
            <th scope="row">
              <bdi>{oneLine(llm, 80)}</bdi>
              {service_tier !== null && <span className="dim"> at tier {oneLine(service_tier, 40)}</span>}
            </th>
            <td className="number">{counted(total_tokens, "token")}</td>
            <td className="number roomy">{counted(requests, "request")}</td>
            <td>
              {onSet !== undefined && (
                <button className="main" onClick={() => onSet(llm, service_tier)}>
                  Set the price
                </button>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface PriceTableProps {
  readonly prices: readonly Price[];
  readonly zone: string;
  readonly onRemove: ((price: Price) => void) | undefined;
}

const COLUMNS = [
  ["input", "prompt_token_cost"],
  ["output", "completion_token_cost"],
  ["cache read", "cache_read_input_token_cost"],
  ["cache write", "cache_creation_input_token_cost"],
] as const;

function PriceTable({ prices, zone, onRemove }: PriceTableProps) {
  return (
    <table className="plain">
      <caption>Set in this project, in USD per million tokens</caption>
      <thead>
        <tr>
          <th scope="col">model</th>
          {COLUMNS.map(([name]) => (
            <th key={name} scope="col" className="number">
              {name}
            </th>
          ))}
          <th scope="col">from</th>
          {onRemove !== undefined && <td />}
        </tr>
      </thead>
      <tbody>
        {prices.map((price) => (
          <tr key={price.id}>
            <th scope="row">
              <bdi>{oneLine(price.llm_id ?? "", 80)}</bdi>
              {price.service_tier !== undefined && price.service_tier !== "" && (
                <span className="dim"> at tier {oneLine(price.service_tier, 40)}</span>
              )}
            </th>
            {COLUMNS.map(([name, member]) => {
              const usd = price[member];
              return (
                <td key={name} className="number">
                  {usd == null ? (
                    <span className="dim">as input</span>
                  ) : (
                    <FormattedValue figure={formatUsd(toPicodollar(usd * 1e6))} />
                  )}
                </td>
              );
            })}
            <td>{price.effective_date === undefined ? "" : fullInstant(price.effective_date, zone)}</td>
            {onRemove !== undefined && (
              <td>
                <button className="quiet" onClick={() => onRemove(price)}>
                  Remove
                </button>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
