import { useState } from "react";
import { change, get } from "../api/client.ts";
import { useQuery } from "../api/use-query.ts";
import { LoadState } from "../components/notice.tsx";
import { counted } from "../format/figure.ts";
import { Confirm } from "./confirm.tsx";

interface Kept {
  /** Null: for ever. */
  readonly days: number | null;
}

const MAX_DAYS = 36_500;

/** How long the project keeps calls and feedback. */
export function Retention({ project }: { readonly project: string }) {
  const [chosen, setChosen] = useState<Kept | undefined>(undefined);
  const path = `/projects/${project.split("/").map(encodeURIComponent).join("/")}/retention`;
  const load = useQuery(`retention\n${project}`, ({ signal }) => get<Kept>(path, signal));
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
          <form
            className="tools"
            onSubmit={(event) => {
              event.preventDefault();
              const text = new FormData(event.currentTarget).get("days");
              setChosen({ days: text === "" ? null : Number(text) });
            }}
          >
            <label>
              Days{" "}
              <input
                name="days"
                type="number"
                min={1}
                max={MAX_DAYS}
                placeholder="for ever"
                defaultValue={days ?? ""}
              />
            </label>
            <button type="submit">Change</button>
          </form>
        </>
      )}
      {chosen !== undefined && (
        <Confirm
          title={chosen.days === null ? "Keep everything?" : `Keep ${counted(chosen.days, "day")}?`}
          text={
            chosen.days === null
              ? "Nothing is deleted from now on."
              : "Older calls and feedback are deleted within an hour. This cannot be undone."
          }
          label={chosen.days === null ? "Keep everything" : "Delete what is older"}
          act={() => change("PUT", path, chosen)}
          onDone={() => {
            setChosen(undefined);
            load.refetch();
          }}
          onClose={() => setChosen(undefined)}
        />
      )}
    </section>
  );
}
