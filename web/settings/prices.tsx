import { useState } from "react";
import { postJson, change } from "../api/client.ts";
import type { Price } from "../api/routes.ts";
import { useQuery } from "../api/use-query.ts";
import { formatCount, formatUsd } from "../format/figure.ts";
import { fullInstant } from "../format/instants.ts";
import { oneLine } from "../format/plain-text.ts";
import { toPicodollar } from "../format/usage.ts";
import { FormattedValue } from "../components/figure.tsx";
import { FormDialog } from "../components/form-dialog.tsx";
import { LoadState } from "../components/notice.tsx";
import { Table } from "../components/table.tsx";
import type { UrlState } from "../state/url-state.ts";
import type { ViewProps } from "../state/use-address.ts";
import { PRICES } from "./price-draft.ts";
import { PriceForm } from "./price-form.tsx";

interface PricesProps extends ViewProps {
  readonly maySet: boolean;
}

const DAYS_MS = 30 * 86_400_000;

/** Models without a price first, then the prices that the project has set. */
export function Prices({ project, zone, address, go, maySet }: PricesProps) {
  const [removed, setRemoved] = useState<Price | undefined>(undefined);
  const { model = "", tier = "", price = "" } = address.options;
  const load = useQuery(`prices\n${project}`, async (asking) => {
    const start = new Date(Date.now() - DAYS_MS).toISOString();
    const [stats, prices] = await Promise.all([
      postJson({ path: "/usage/stats", body: { project_id: project, start, include_costs: true } }, asking),
      postJson({ path: "/cost/query", body: { project_id: project } }, asking),
    ]);
    return { unpriced: stats.body.unpriced ?? [], prices: prices.body.results };
  });
  const edit = (more: UrlState["options"]): void =>
    go({ options: { ...address.options, model: "", tier: "", price: "", ...more } });
  return (
    <section aria-busy={load.busy}>
      <h2>Prices</h2>
      <LoadState load={load} />
      {load.value !== undefined && (
        <>
          <Table
            className="plain"
            hasCaption
            label="Without a price, in the last 30 days"
            none="Every model of the last 30 days has a price."
            rows={load.value.unpriced}
            columns={[
              { name: "model", cell: (one) => <Model name={one.llm} tier={one.service_tier} /> },
              {
                name: "tokens",
                kind: "number",
                cell: (one) => <FormattedValue figure={formatCount(one.total_tokens)} />,
              },
              {
                name: "",
                cell: (one) =>
                  maySet && (
                    <button
                      className="main"
                      onClick={() => edit({ model: one.llm, tier: one.service_tier ?? "" })}
                    >
                      Set the price
                    </button>
                  ),
              },
            ]}
          />
          <PriceTable prices={load.value.prices} zone={zone} onRemove={maySet ? setRemoved : undefined} />
        </>
      )}
      {maySet && <button onClick={() => edit({ price: "new" })}>New price</button>}
      {maySet && (model !== "" || price === "new") && (
        <PriceForm
          {...{ project, zone, model }}
          tier={tier || null}
          onDone={load.refetch}
          onClose={() => edit({})}
        />
      )}
      {removed !== undefined && (
        <FormDialog
          title={`Remove the price of ${oneLine(removed.llm_id ?? "", 60)}?`}
          submit="Remove"
          act={() => {
            const query = { $expr: { $eq: [{ $getField: "id" }, { $literal: removed.id }] } };
            return change("POST", "/cost/purge", { project_id: project, query });
          }}
          onDone={load.refetch}
          onClose={() => setRemoved(undefined)}
        >
          <p>Calls that it applied to get the price that held before it, or none. Past sums change.</p>
        </FormDialog>
      )}
    </section>
  );
}

interface PriceTableProps {
  readonly prices: readonly Price[];
  readonly zone: string;
  readonly onRemove: ((price: Price) => void) | undefined;
}

function PriceTable({ prices, zone, onRemove }: PriceTableProps) {
  return (
    <Table
      className="plain"
      hasCaption
      label="Set in this project, in USD per million tokens"
      none="This project has set no price of its own: the built-in list holds."
      rows={prices}
      columns={[
        { name: "model", cell: (one) => <Model name={one.llm_id ?? ""} tier={one.service_tier} /> },
        ...PRICES.map(([member, label]) => ({
          name: label.toLowerCase(),
          kind: "number",
          cell: ({ [member]: usd }: Price) =>
            usd == null ? (
              <span className="dim">as input</span>
            ) : (
              <FormattedValue figure={formatUsd(toPicodollar(usd * 1e6))} />
            ),
        })),
        { name: "from", cell: ({ effective_date: at }) => at !== undefined && fullInstant(at, zone) },
        {
          name: "",
          cell: (one) =>
            onRemove && (
              <button className="quiet" onClick={() => onRemove(one)}>
                Remove
              </button>
            ),
        },
      ]}
    />
  );
}

/** A model, and its tier unless that is the standard one. */
function Model({ name, tier = "" }: { readonly name: string; readonly tier: string | null | undefined }) {
  return (
    <>
      <bdi>{oneLine(name, 80)}</bdi>
      {tier !== null && tier !== "" && <span className="dim"> at tier {oneLine(tier, 40)}</span>}
    </>
  );
}
