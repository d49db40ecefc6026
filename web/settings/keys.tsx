import { useState } from "react";
import { change, get } from "../api/client.ts";
import type { ApiKey } from "../api/routes.ts";
import { useQuery } from "../api/use-query.ts";
import { fullInstant } from "../format/instants.ts";
import { oneLine } from "../format/plain-text.ts";
import { FormDialog } from "../components/form-dialog.tsx";
import { LoadState } from "../components/notice.tsx";
import { Table } from "../components/table.tsx";
import { NewKey, NewKeyMade, type MadeKey } from "./new-key.tsx";

interface KeysProps {
  readonly project: string;
  readonly zone: string;
}

/** All keys, and new ones. */
export function Keys({ project, zone }: KeysProps) {
  const [isCreating, setCreating] = useState(false);
  const [made, setMade] = useState<MadeKey | undefined>(undefined);
  const [revoked, setRevoked] = useState<ApiKey | undefined>(undefined);
  const load = useQuery("keys", async ({ signal }) => {
    const { api_keys } = await get<{ api_keys: readonly ApiKey[] }>("/api-keys", signal);
    return api_keys;
  });
  const instant = (at: string | null): string => (at === null ? "never" : fullInstant(at, zone));
  return (
    <section aria-busy={load.busy}>
      <h2>Keys</h2>
      <LoadState load={load} />
      {load.value !== undefined && (
        <Table
          className="plain"
          hasCaption
          label="All keys but the one of the root"
          none="There is no key but the one of the root."
          rows={load.value}
          columns={[
            {
              name: "name",
              cell: ({ id, name }) => (
                <>
                  <bdi>{oneLine(name, 60)}</bdi> <small className="dim">{id}</small>
                </>
              ),
            },
            { name: "may", cell: ({ scopes }) => scopes.join(", ") },
            { name: "projects", cell: ({ projects }) => oneLine(projects.join(", "), 80) },
            { name: "made", cell: ({ created_at: at }) => instant(at) },
            { name: "expires", cell: ({ expires_at: at }) => instant(at) },
            { name: "last used", cell: ({ last_used_at: at }) => instant(at) },
            {
              name: "",
              cell: (key) => (
                <button className="quiet danger" onClick={() => setRevoked(key)}>
                  Revoke
                </button>
              ),
            },
          ]}
        />
      )}
      <button onClick={() => setCreating(true)}>New key</button>
      {isCreating && (
        <NewKey project={project} onMade={setMade} onDone={load.refetch} onClose={() => setCreating(false)} />
      )}
      {made !== undefined && <NewKeyMade made={made} onClose={() => setMade(undefined)} />}
      {revoked !== undefined && (
        <FormDialog
          title={`Revoke “${oneLine(revoked.name, 60)}”?`}
          submit="Revoke"
          isDangerous
          act={() => change("DELETE", `/api-keys/${encodeURIComponent(revoked.id)}`)}
          onDone={load.refetch}
          onClose={() => setRevoked(undefined)}
        >
          <p>Whoever uses it is refused from then on. This cannot be undone.</p>
        </FormDialog>
      )}
    </section>
  );
}
