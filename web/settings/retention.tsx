import { useState } from "react";
import { change, get } from "../api/client.ts";
import { useQuery } from "../api/use-query.ts";
import { FormDialog } from "../components/form-dialog.tsx";
import { LoadState } from "../components/notice.tsx";
import { counted } from "../format/figure.ts";

const MAX_DAYS = 36_500;

/** How long the project keeps calls and feedback. */
export function Retention({ project }: { readonly project: string }) {
  const [isChanging, setChanging] = useState(false);
  const path = `/projects/${project.split("/").map(encodeURIComponent).join("/")}/retention`;
  const load = useQuery(`retention\n${project}`, ({ signal }) =>
    // null: for ever
    get<{ readonly days: number | null }>(path, signal),
  );
  const days = load.value?.days;
  return (
    <section aria-busy={load.busy}>
      <h2>Retention</h2>
      <LoadState load={load} />
      {days !== undefined && (
        <>
          <p className="dim">
            Calls and feedback are kept {days === null ? "for ever" : `for ${counted(days, "day")}`}.
          </p>
          <button onClick={() => setChanging(true)}>Change retention</button>
        </>
      )}
      {isChanging && (
        <FormDialog
          title="How long to keep calls and feedback"
          submit="Keep so long"
          act={({ days: text = "" }) => change("PUT", path, { days: text === "" ? null : Number(text) })}
          onDone={load.refetch}
          onClose={() => setChanging(false)}
        >
          <label>
            Days
            <input
              name="days"
              type="number"
              min={1}
              max={MAX_DAYS}
              placeholder="for ever"
              defaultValue={days ?? ""}
            />
          </label>
          <p>What is older is deleted within an hour. This cannot be undone.</p>
        </FormDialog>
      )}
    </section>
  );
}
