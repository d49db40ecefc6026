import { useState } from "react";
import { change, postJson } from "../api/client.ts";
import type { Budget } from "../api/routes.ts";
import { useQuery } from "../api/use-query.ts";
import { FormattedValue } from "../components/figure.tsx";
import { FormDialog } from "../components/form-dialog.tsx";
import { LoadState } from "../components/notice.tsx";
import { counted, formatCount, formatUsd, type FormattedNumber } from "../format/figure.ts";
import { bucketName } from "../format/instants.ts";
import { oneLine } from "../format/plain-text.ts";
import type { UrlState } from "../state/url-state.ts";
import type { ViewProps } from "../state/use-address.ts";
import { BudgetForm } from "./budget-form.tsx";
import { draftOf, fullestFirst, metersOf, subjectOf, WINDOWS, type Meter } from "./budget.ts";

const MAX_VALUES = 20;

/** The budgets of the project, and what is left of each. */
export function Budgets({ project, zone, address, go, maySet }: ViewProps & { readonly maySet: boolean }) {
  const [removed, setRemoved] = useState<Budget | undefined>(undefined);
  const { options } = address;
  const load = useQuery(`budgets\n${project}`, async (asking) => {
    const { body } = await postJson({ path: "/budget/query", body: { project_id: project } }, asking);
    return body.budgets;
  });
  const edit = (more: UrlState["options"]): void =>
    go({ options: { ...options, budget: "", scope: "", match: "", ...more } });
  const edited = load.value?.find(({ id }) => id === options["budget"]);
  const draft = options["budget"] === "new" ? draftOf(options, zone) : edited;
  return (
    <section aria-busy={load.busy} aria-label="Budgets">
      <h2>Budgets</h2>
      <LoadState load={load} />
      {load.value?.length === 0 && <p className="dim">This project has no budget.</p>}
      <ul className="budgets">
        {load.value?.map((one) => (
          <li key={one.id}>
            <BudgetState budget={one} />
            {maySet && (
              <div className="tools">
                <button onClick={() => edit({ budget: one.id })}>Edit</button>
                <button className="quiet danger" onClick={() => setRemoved(one)}>
                  Delete
                </button>
              </div>
            )}
          </li>
        ))}
      </ul>
      {maySet && <button onClick={() => edit({ budget: "new" })}>New budget</button>}
      {maySet && draft !== undefined && (
        <BudgetForm {...{ project, draft }} onDone={load.refetch} onClose={() => edit({})} />
      )}
      {removed !== undefined && (
        <FormDialog
          title={`Delete the budget “${oneLine(removed.name ?? subjectOf(removed), 60)}”?`}
          submit="Delete"
          isDangerous
          act={() => change("POST", "/budget/delete", { project_id: project, id: removed.id })}
          onDone={load.refetch}
          onClose={() => setRemoved(undefined)}
        >
          <p>Its limits no longer hold.</p>
        </FormDialog>
      )}
    </section>
  );
}

/** Scope, window, and what is left of it, or of its fullest values. */
function BudgetState({ budget }: { readonly budget: Budget }) {
  const { name, limit, window, timezone, values, resets_at: at, unpriced_requests: unpriced } = budget;
  const subject = oneLine(subjectOf(budget), 80);
  const uses = values === undefined ? [{ ...budget, value: null }] : fullestFirst(values, limit);
  const resetsMs = at === null ? undefined : Date.parse(at);
  return (
    <>
      <strong>
        <bdi>{oneLine(name ?? subject, 80)}</bdi>
      </strong>
      <p className="dim">
        {name !== null && <bdi>{subject}, </bdi>}
        {window === null ? WINDOWS[""] : `each ${window} in ${timezone}`}
        {resetsMs && `, resets ${bucketName(resetsMs, resetsMs, { zone: timezone, granularity: 1 })}`}
        {unpriced > 0 && `, excluding the cost of ${counted(unpriced, "request")} without a price`}
      </p>
      {uses.slice(0, MAX_VALUES).map(({ value, ...used }) => (
        <div key={value}>
          {value !== null && <bdi>{oneLine(value, 80)}</bdi>}
          {metersOf(limit, used).map((meter) => (
            <Bar key={meter.unit} meter={meter} isPartial={meter.unit === "usd" && unpriced > 0} />
          ))}
        </div>
      ))}
      {uses.length === 0 && <p>Nothing is spent in this window.</p>}
      {uses.length > MAX_VALUES && <p>and {counted(uses.length - MAX_VALUES, "other")} with more left</p>}
    </>
  );
}

/** Meter of spent, held and left amounts. `isPartial`: something has no price. */
function Bar({ meter, isPartial }: { readonly meter: Meter; readonly isPartial: boolean }) {
  const { unit, limit, spent, held, left } = meter;
  const figureOf = (amount: number): FormattedNumber => (unit === "usd" ? formatUsd : formatCount)(amount);
  const widthOf = (amount: number) => ({ width: `${limit === 0 ? 100 : (amount / limit) * 100}%` });
  return (
    <p>
      <span aria-hidden="true" className={left === 0 ? "meter full" : "meter"}>
        <i style={widthOf(spent)} />
        <i className="held" style={widthOf(held)} />
      </span>
      {isPartial && "≤ "}
      <strong>
        <FormattedValue figure={figureOf(left)} />
      </strong>{" "}
      left of <FormattedValue figure={figureOf(limit)} />
      {unit !== "usd" && ` ${unit}`}
      <span className="dim">
        , {isPartial && "≥ "}
        <FormattedValue figure={figureOf(spent)} /> spent
        {held > 0 && `, ${figureOf(held).text} held by open requests`}
      </span>
    </p>
  );
}
