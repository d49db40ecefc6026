import { useState } from "react";
import { postJson, change } from "../api/client.ts";
import { useQuery } from "../api/use-query.ts";
import { formatUsd } from "../format/figure.ts";
import { clockOf, instantOf, midnightOf, printClock, readClock } from "../format/local-time.ts";
import { oneLine } from "../format/plain-text.ts";
import { FormattedValue } from "../components/figure.tsx";
import { FormDialog, type Fields } from "../components/form-dialog.tsx";
import { addedUsd, isExact, perToken, PRICES } from "./price-draft.ts";

interface PriceFormProps {
  readonly project: string;
  readonly zone: string;
  /** Empty: it is asked for. */
  readonly model: string;
  /** Null: the standard one. */
  readonly tier: string | null;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

const DAY_MS = 86_400_000;
const SHOWN_DAYS = 30;

/** Dollars per million tokens, from a day on; what that adds is said before it is saved. */
export function PriceForm({ project, zone, model, tier, onDone, onClose }: PriceFormProps) {
  const [now] = useState(() => Date.now());
  const [fields, setFields] = useState<Fields>({});
  const first = printClock(midnightOf(clockOf(now, zone), -SHOWN_DAYS)).slice(0, 10);
  const { llm = model, from = first } = fields;
  const fromMs = instantOf(readClock(`${from}T00:00`), zone);
  const startMs = Math.max(fromMs, now - SHOWN_DAYS * DAY_MS);
  const { value: unpriced } = useQuery(
    startMs < now ? JSON.stringify(["price", project, llm, tier, startMs]) : undefined,
    async (asking) => {
      const body = { project_id: project, start: new Date(startMs).toISOString(), include_costs: true };
      const answer = await postJson({ path: "/usage/stats", body }, asking);
      return answer.body.unpriced?.filter((one) => one.llm === llm && one.service_tier === tier) ?? [];
    },
  );
  const prices = perToken(fields);
  const save = (): Promise<unknown> => {
    const price = { ...prices, service_tier: tier, effective_date: new Date(fromMs).toISOString() };
    return change("POST", "/cost/create", { project_id: project, costs: { [llm]: price } });
  };
  const named = `Price of ${oneLine(model, 60)}${tier === null ? "" : ` at tier ${oneLine(tier, 40)}`}`;
  return (
    <FormDialog
      title={model === "" ? "New price" : named}
      submit="Save"
      act={save}
      onInput={setFields}
      {...{ onDone, onClose }}
    >
      {model === "" && (
        <label>
          Model, as calls report it
          <input name="llm" required pattern=".*\S.*" />
        </label>
      )}
      <fieldset className="four">
        <legend>USD per million tokens</legend>
        {PRICES.map(([name, label], at) => (
          <label key={name}>
            {label}
            <input
              name={name}
              inputMode="decimal"
              required={at < 2}
              placeholder={at < 2 ? "2.50" : "as input"}
              pattern="\s*(\d+[.,]?\d*|[.,]\d+)\s*"
            />
          </label>
        ))}
      </fieldset>
      <label>
        From the beginning of
        <input name="from" type="date" required defaultValue={first} />
        <span className="dim">in {zone}</span>
      </label>
      <p className="adds" aria-live="polite">
        {prices !== undefined && unpriced !== undefined && (
          <>
            Adds {isExact(unpriced) ? "" : "about "}
            <strong>
              <FormattedValue figure={formatUsd(addedUsd(unpriced, prices))} />
            </strong>{" "}
            to the last {SHOWN_DAYS} days
          </>
        )}
      </p>
    </FormDialog>
  );
}
