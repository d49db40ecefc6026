import { useState } from "react";
import { postJson, change } from "../api/client.ts";
import type { UsageStats } from "../api/routes.ts";
import { useQuery } from "../api/use-query.ts";
import { formatUsd } from "../format/figure.ts";
import { clockOf, instantOf, midnightOf, printClock, readClock } from "../format/local-time.ts";
import { oneLine } from "../format/plain-text.ts";
import { FormattedValue } from "../components/figure.tsx";
import { Dialog } from "../components/dialog.tsx";
import { faultOf } from "./confirm.tsx";
import { addedUsd, isExact, perToken, type PriceDraft, type TokenPrices } from "./price-draft.ts";

interface PriceFormProps {
  readonly project: string;
  readonly zone: string;
  readonly model: string;
  /** Null: the standard one. */
  readonly tier: string | null;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

const DAY_MS = 86_400_000;
const SHOWN_DAYS = 30;
const FIELDS = [
  ["prompt", "Input", true],
  ["completion", "Output", true],
  ["cacheRead", "Cache read", false],
  ["cacheWrite", "Cache write", false],
] as const;

/** Dollars per million tokens, from a day on; what that adds is said before it is saved. */
export function PriceForm({ project, zone, model, tier, onDone, onClose }: PriceFormProps) {
  const [now] = useState(() => Date.now());
  const [llm, setLlm] = useState(model);
  const [draft, setDraft] = useState<PriceDraft>({
    prompt: "",
    completion: "",
    cacheRead: "",
    cacheWrite: "",
  });
  const first = midnightOf(clockOf(now, zone), -SHOWN_DAYS);
  const [from, setFrom] = useState(() => printClock(first).slice(0, 10));
  const [fault, setFault] = useState<string | undefined>(undefined);
  const fromMs = instantOf(readClock(`${from}T00:00`), zone);
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(from) && Number.isFinite(fromMs);
  const startMs = Math.max(fromMs, now - SHOWN_DAYS * DAY_MS);
  const left = useQuery(
    isDay && startMs < now ? JSON.stringify(["price", project, llm, tier, startMs]) : undefined,
    async (asking) => {
      const body = { project_id: project, start: new Date(startMs).toISOString(), include_costs: true };
      const answer = await postJson({ path: "/usage/stats", body }, asking);
      return answer.body.unpriced?.filter((one) => one.llm === llm && one.service_tier === tier) ?? [];
    },
  );
  const prices = perToken(draft);
  const save = async (): Promise<void> => {
    if (prices === undefined || !isDay || llm.trim() === "") return;
    try {
      await savePrice(project, { llm, tier, prices, fromMs });
      onDone();
    } catch (error) {
      setFault(faultOf(error));
    }
  };
  return (
    <Dialog label="Set a price" onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <h2>
          Price of <bdi>{llm === "" ? "a model" : oneLine(llm, 60)}</bdi>
          {tier !== null && ` at tier ${oneLine(tier, 40)}`}
        </h2>
        {model === "" && (
          <label>
            Model, as calls report it
            <input required value={llm} onChange={(event) => setLlm(event.currentTarget.value)} />
          </label>
        )}
        <Four draft={draft} onDraft={setDraft} />
        <label>
          From the beginning of
          <input type="date" required value={from} onChange={(event) => setFrom(event.currentTarget.value)} />
          <span className="dim">in {zone}</span>
        </label>
        <Adds unpriced={left.value} prices={prices} />
        {fault !== undefined && (
          <p className="failed" role="alert">
            {oneLine(fault)}
          </p>
        )}
        <div className="tools">
          <button type="submit" className="main" disabled={prices === undefined || !isDay}>
            Save
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface NewPrice {
  readonly llm: string;
  readonly tier: string | null;
  readonly prices: TokenPrices;
  readonly fromMs: number;
}

function savePrice(project_id: string, { llm, tier, prices, fromMs }: NewPrice): Promise<unknown> {
  const price = {
    prompt_token_cost: prices.prompt,
    completion_token_cost: prices.completion,
    cache_read_input_token_cost: prices.cacheRead,
    cache_creation_input_token_cost: prices.cacheWrite,
    service_tier: tier,
    effective_date: new Date(fromMs).toISOString(),
  };
  return change("POST", "/cost/create", { project_id, costs: { [llm]: price } });
}

interface FourProps {
  readonly draft: PriceDraft;
  readonly onDraft: (draft: PriceDraft) => void;
}

function Four({ draft, onDraft }: FourProps) {
  return (
    <fieldset className="four">
      <legend>USD per million tokens</legend>
      {FIELDS.map(([name, label, isNeeded]) => (
        <label key={name}>
          {label}
          <input
            inputMode="decimal"
            required={isNeeded}
            placeholder={isNeeded ? "2.50" : "as input"}
            pattern="\d*\.?\d*"
            value={draft[name]}
            onChange={(event) => onDraft({ ...draft, [name]: event.currentTarget.value.trim() })}
          />
        </label>
      ))}
    </fieldset>
  );
}

interface AddsProps {
  /** Undefined: not known yet. */
  readonly unpriced: NonNullable<UsageStats["unpriced"]> | undefined;
  readonly prices: TokenPrices | undefined;
}

function Adds({ unpriced, prices }: AddsProps) {
  return (
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
  );
}
