import { useState } from "preact/hooks";
import type { Whoami } from "../api/routes.ts";
import { printAddress, type Address, type View } from "../state/address.ts";
import { applyTheme, keptTheme, THEMES } from "../state/theme.ts";
import type { Go } from "../state/use-address.ts";
import { WindowPicker } from "./window-picker.tsx";
import { ZonePicker } from "./zone-picker.tsx";

const NAMES = { traces: "Traces", usage: "Usage", feedback: "Feedback" } as const satisfies Partial<
  Record<View, string>
>;

interface HeaderProps {
  readonly me: Whoami;
  readonly project: string | undefined;
  readonly address: Address;
  readonly zone: string;
  readonly go: Go;
  readonly forget: () => void;
}

export function Header({ me, project, address, zone, go, forget }: HeaderProps) {
  const { view, options } = address;
  const hrefOf = (view: View): string =>
    printAddress({ project, view, traceId: undefined, options: listOptions(options) });
  const set = (name: string, value: string): void => go({ options: { ...options, [name]: value } });
  return (
    <header>
      <span class="mark" aria-hidden="true" />
      <strong class="brand">Sumtree</strong>
      <ProjectPicker
        me={me}
        project={project}
        onProject={(project) =>
          go({ project, view: "traces", traceId: undefined, options: listOptions(options) })
        }
      />
      <nav aria-label="Views">
        {Object.entries(NAMES).map(([name, label]) => (
          <a
            key={name}
            href={hrefOf(name as View)}
            aria-current={name === view || (name === "traces" && view === "trace") ? "page" : undefined}
          >
            {label}
          </a>
        ))}
      </nav>
      <span class="space" />
      {view !== "trace" && (
        <WindowPicker text={options["window"]} zone={zone} onWindow={(text) => set("window", text)} />
      )}
      <ZonePicker zone={zone} onZone={(text) => set("zone", text)} />
      <ThemePicker />
      <button class="quiet personal" title={`Forget the key “${me.name}”`} onClick={forget}>
        Leave
      </button>
    </header>
  );
}

/** The options that lists share; those of a trace are left behind. */
function listOptions(options: Address["options"]): Address["options"] {
  const {
    window = "",
    zone = "",
    q = "",
    cost = "",
    sort = "",
    calls = "",
    group = "",
    measure = "",
    as = "",
  } = options;
  return { window, zone, q, cost, sort, calls, group, measure, as };
}

interface ProjectPickerProps {
  readonly me: Whoami;
  readonly project: string | undefined;
  readonly onProject: (project: string) => void;
}

function ProjectPicker({ me, project, onProject }: ProjectPickerProps) {
  const known = me.projects_with_data ?? [];
  const all = project === undefined || known.includes(project) ? known : [project, ...known];
  if (all.length === 0) return null;
  return (
    <select aria-label="Project" value={project} onChange={(event) => onProject(event.currentTarget.value)}>
      {all.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
      {me.truncated && <option disabled>and more</option>}
    </select>
  );
}

function ThemePicker() {
  const [theme, setTheme] = useState(keptTheme);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "auto";
  return (
    <button
      class="quiet personal"
      aria-label={`Colours: ${theme}. Switch to ${next}.`}
      title={`Colours: ${theme}`}
      onClick={() => {
        applyTheme(next);
        setTheme(next);
      }}
    >
      {{ auto: "◐", light: "○", dark: "●" }[theme]}
    </button>
  );
}
