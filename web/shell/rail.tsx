import { useState } from "react";
import { isKeptOnDevice, storeKey, storedKey } from "../api/key.ts";
import type { Whoami } from "../api/routes.ts";
import { Menu } from "../components/menu.tsx";
import { printAddress, type UrlState, type View } from "../state/url-state.ts";
import { applyTheme, keptTheme, THEMES } from "../state/theme.ts";
import { sharedOptions } from "./shared-options.ts";

interface RailProps {
  readonly me: Whoami;
  readonly address: UrlState;
  readonly signOut: () => void;
}

const NAMES = {
  overview: "Overview",
  traces: "Traces",
  usage: "Usage",
  feedback: "Feedback",
  settings: "Settings",
} as const satisfies Partial<Record<View, string>>;

/** The views, and what belongs to the person. */
export function Rail({ me, address, signOut }: RailProps) {
  const { view, project, options } = address;
  return (
    <aside className="rail" aria-label="Sumtree">
      <strong className="brand">
        <span className="logo" aria-hidden="true" /> <span>Sumtree</span>
      </strong>
      <nav aria-label="Views">
        {Object.entries(NAMES)
          .filter(([name]) => me.projects_with_data !== null || name === "settings")
          .map(([name, label]) => (
            <a
              key={name}
              href={printAddress({
                project,
                view: name as View,
                traceId: undefined,
                options: sharedOptions(options),
              })}
              aria-current={name === view || (name === "traces" && view === "trace") ? "page" : undefined}
            >
              {label}
            </a>
          ))}
      </nav>
      <span className="space" />
      <Menu
        label={<span className="who">{me.name}</span>}
        name={`Signed in as ${me.name}`}
        className="quiet person"
      >
        {() => <Person me={me} signOut={signOut} />}
      </Menu>
    </aside>
  );
}

function Person({ me, signOut }: Pick<RailProps, "me" | "signOut">) {
  const [theme, setTheme] = useState(keptTheme);
  const [onDevice, setOnDevice] = useState(isKeptOnDevice);
  return (
    <div className="personal">
      <p>
        <bdi>{me.name}</bdi>
        <span className="dim"> may {me.scopes.join(", ")}</span>
      </p>
      <fieldset className="segments">
        <legend>Theme</legend>
        {THEMES.map((name) => (
          <button
            key={name}
            aria-pressed={name === theme}
            onClick={() => {
              applyTheme(name);
              setTheme(name);
            }}
          >
            {{ auto: "Auto", light: "Light", dark: "Dark" }[name]}
          </button>
        ))}
      </fieldset>
      <label className="check">
        <input
          type="checkbox"
          checked={onDevice}
          onChange={(event) => {
            storeKey(storedKey() ?? "", event.currentTarget.checked);
            setOnDevice(event.currentTarget.checked);
          }}
        />
        Keep on this device
      </label>
      <button onClick={signOut}>Sign out</button>
    </div>
  );
}
