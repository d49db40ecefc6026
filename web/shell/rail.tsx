import { useState } from "react";
import { isKeptOnDevice, storeKey, storedKey } from "../api/key.ts";
import type { Whoami } from "../api/routes.ts";
import { Menu } from "../components/menu.tsx";
import { Segments } from "../components/segments.tsx";
import { printAddress, sharedOptions, VIEW_NAMES, type UrlState, type View } from "../state/url-state.ts";
import { applyTheme, keptTheme, THEMES } from "../state/theme.ts";

interface RailProps {
  readonly me: Whoami;
  readonly address: UrlState;
  readonly signOut: () => void;
}

/** The views, and what belongs to the person. */
export function Rail({ me, address, signOut }: RailProps) {
  const shown = address.view === "trace" ? "traces" : address.view;
  const options = sharedOptions(address.options);
  return (
    <aside className="rail" aria-label="Sumtree">
      <strong className="brand">
        <span className="logo" aria-hidden="true" /> Sumtree
      </strong>
      <nav aria-label="Views">
        {Object.entries(VIEW_NAMES)
          .filter(([view]) => me.projects_with_data !== null || view === "settings")
          .map(([view, label]) => (
            <a
              key={view}
              href={printAddress({ ...address, view: view as View, options })}
              aria-current={view === shown ? "page" : undefined}
            >
              {label}
            </a>
          ))}
      </nav>
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
    <div className="form">
      <p>
        <bdi>{me.name}</bdi>
        <span className="dim"> may {me.scopes.join(", ")}</span>
      </p>
      <Segments
        label="Theme"
        all={THEMES}
        chosen={theme}
        onChoose={(name) => {
          applyTheme(name);
          setTheme(name);
        }}
      />
      <label className="check">
        <input
          type="checkbox"
          checked={onDevice}
          onChange={({ currentTarget: { checked } }) => {
            storeKey(storedKey() ?? "", checked);
            setOnDevice(checked);
          }}
        />
        Keep on this device
      </label>
      <button onClick={signOut}>Sign out</button>
    </div>
  );
}
