import { useState } from "react";
import { change, get } from "../api/client.ts";
import type { ApiKey } from "../api/routes.ts";
import { useQuery } from "../api/use-query.ts";
import { fullInstant } from "../format/instants.ts";
import { oneLine } from "../format/plain-text.ts";
import { LoadState } from "../components/notice.tsx";
import { Confirm } from "./confirm.tsx";
import { NewKey } from "./new-key.tsx";

interface KeysProps {
  readonly project: string;
  readonly zone: string;
}

/** All keys, and new ones. */
export function Keys({ project, zone }: KeysProps) {
  const [isCreating, setCreating] = useState(false);
  const [revoked, setRevoked] = useState<ApiKey | undefined>(undefined);
  const load = useQuery("keys", async ({ signal }) => {
    const { api_keys } = await get<{ api_keys: readonly ApiKey[] }>("/api-keys", signal);
    return api_keys;
  });
  return (
    <section aria-busy={load.busy}>
      <h2>Keys</h2>
      <LoadState load={load} />
      {load.value?.length === 0 && <p className="dim">There is no key but the one of the root.</p>}
      {load.value !== undefined && load.value.length > 0 && (
        <div className="wide" tabIndex={0} role="region" aria-label="Keys">
          <table className="plain">
            <thead>
              <tr>
                {["name", "may", "projects", "made", "expires", "last used"].map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
                <td />
              </tr>
            </thead>
            <tbody>
              {load.value.map((key) => (
                <tr key={key.id}>
                  <th scope="row">
                    <bdi>{oneLine(key.name, 60)}</bdi> <small className="dim">{key.id}</small>
                  </th>
                  <td>{key.scopes.join(", ")}</td>
                  <td>{oneLine(key.projects.join(", "), 80)}</td>
                  <td>{fullInstant(key.created_at, zone)}</td>
                  <td>{key.expires_at === null ? "never" : fullInstant(key.expires_at, zone)}</td>
                  <td>{key.last_used_at === null ? "never" : fullInstant(key.last_used_at, zone)}</td>
                  <td>
                    <button className="quiet" onClick={() => setRevoked(key)}>
                      Revoke
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <div className="tools">
        <button onClick={() => setCreating(true)}>New key</button>
      </div>
      {isCreating && <NewKey {...{ project }} onMade={load.refetch} onClose={() => setCreating(false)} />}
      {revoked !== undefined && (
        <Confirm
          title={`Revoke “${oneLine(revoked.name, 60)}”?`}
          text="Whoever uses it is refused from then on. This cannot be undone."
          label="Revoke"
          act={() => change("DELETE", `/api-keys/${encodeURIComponent(revoked.id)}`)}
          onDone={() => {
            setRevoked(undefined);
            load.refetch();
          }}
          onClose={() => setRevoked(undefined)}
        />
      )}
    </section>
  );
}
