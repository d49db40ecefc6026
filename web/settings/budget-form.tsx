import { useState } from "react";
import { change } from "../api/client.ts";
import { FormDialog, type Fields } from "../components/form-dialog.tsx";
import { Select } from "../components/select.tsx";
import { oneLine } from "../format/plain-text.ts";
import { zonesLike } from "../state/zones.ts";
import { EACH, printPercents, readLimits, SCOPES, subjectOf, UNITS, WINDOWS, type Draft } from "./budget.ts";

interface BudgetFormProps {
  readonly project: string;
  readonly draft: Draft;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

const LABELS = { usd: "USD", tokens: "Tokens", requests: "Requests" } as const;
const DECIMAL = String.raw`\s*(\d+[.,]?\d*|[.,]\d+)\s*`;
const WHOLE = String.raw`\s*\d+\s*`;

/** A new budget, or new limits of one, whose scope stays. */
export function BudgetForm({ project, draft, onDone, onClose }: BudgetFormProps) {
  const { id, limit, window, timezone, match, alerts = [0.5, 0.8, 1] } = draft;
  const [fields, setFields] = useState<Fields>({});
  const scope = SCOPES[(fields["scope"] as Draft["scope"] | undefined) ?? draft.scope];
  const isLimited = UNITS.some((unit) => (fields[unit] ?? limit?.[unit] ?? "") !== "");
  const save = (typed: Fields): Promise<unknown> => {
    const of = id === undefined ? { scope: typed["scope"], match: typed["match"]?.trim() || EACH } : { id };
    const path = id === undefined ? "/budget/create" : "/budget/update";
    return change("POST", path, { project_id: project, ...of, ...readLimits(typed) });
  };
  return (
    <FormDialog
      title={id === undefined ? "New budget" : `Budget: ${oneLine(subjectOf(draft), 80)}`}
      submit="Save"
      act={save}
      onInput={setFields}
      {...{ onDone, onClose }}
    >
      {id === undefined && <Select name="scope" label="Scope" all={SCOPES} chosen={draft.scope} />}
      {id === undefined && scope !== SCOPES.project && (
        <label>
          Which {scope}
          <input
            name="match"
            placeholder={`each ${scope} by itself`}
            defaultValue={match === EACH ? "" : match}
          />
        </label>
      )}
      <fieldset className="four">
        <legend>At most</legend>
        {UNITS.map((unit) => (
          <label key={unit}>
            {LABELS[unit]}
            <input
              name={unit}
              inputMode="decimal"
              required={!isLimited}
              placeholder="no limit"
              pattern={unit === "usd" ? DECIMAL : WHOLE}
              defaultValue={limit?.[unit] ?? ""}
            />
          </label>
        ))}
      </fieldset>
      <div className="four">
        <Select name="window" label="Window" all={WINDOWS} chosen={window ?? ""} />
        <Select
          name="timezone"
          label="Time zone"
          all={Object.fromEntries([timezone, ...zonesLike("")].map((name) => [name, name]))}
          chosen={timezone}
        />
      </div>
      <label>
        Alert at percents of a limit
        <input
          name="alerts"
          pattern="\s*(\d+(\.\d+)?\s*%?([\s,]+|$))*"
          defaultValue={printPercents(alerts)}
        />
      </label>
      <label className="check">
        <input type="checkbox" name="refuse" defaultChecked={draft.on_unknown_price !== "count_only"} />
        Refuse models without a price <span className="dim">otherwise they count as $0</span>
      </label>
    </FormDialog>
  );
}
