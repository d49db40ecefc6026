import type { Whoami } from "../api/routes.ts";
import { Notice } from "../components/notice.tsx";
import type { ViewProps } from "../state/use-address.ts";
import { Budgets } from "./budgets.tsx";
import { Keys } from "./keys.tsx";
import { Prices } from "./prices.tsx";
import { Retention } from "./retention.tsx";
import "../style/overview.css";

interface SettingsViewProps extends ViewProps {
  readonly me: Whoami;
}

/** Settings that the key's scopes allow. */
export function SettingsView({ me, address, project, zone, go }: SettingsViewProps) {
  const may = (...scopes: Whoami["scopes"]): boolean =>
    me.scopes.includes("admin") || scopes.some((scope) => me.scopes.includes(scope));
  return (
    <main className="settings">
      <h1>Settings</h1>
      {may("read") && <Prices {...{ project, zone, address, go }} maySet={may("prices")} />}
      {may("read") && <Budgets {...{ project, zone, address, go }} maySet={may("admin")} />}
      {me.scopes.includes("admin") ? (
        <>
          <Keys {...{ project, zone }} />
          <Retention {...{ project }} />
        </>
      ) : (
        <Notice kind="quiet" title="Keys are managed by a key with the scope admin.">
          Yours, “{me.name}”, may {me.scopes.join(", ")}.
        </Notice>
      )}
    </main>
  );
}
