import type { Whoami } from "../api/routes.ts";
import type { UrlState } from "../state/url-state.ts";
import type { TimeRange } from "../state/time-range.ts";
import type { Go } from "../state/use-address.ts";
import { RangePicker } from "./range-picker.tsx";
import { sharedOptions } from "./shared-options.ts";
import { ZonePicker } from "./zone-picker.tsx";

interface TopBarProps {
  readonly me: Whoami;
  readonly address: UrlState;
  readonly zone: string;
  /** Undefined: the address names none. */
  readonly window: TimeRange | undefined;
  readonly go: Go;
  readonly find: () => void;
  readonly help: () => void;
}

/** Bar shared by all views: project, range, zone and navigation. */
export function TopBar({ me, address, zone, window, go, find, help }: TopBarProps) {
  const { view, options } = address;
  const change = (more: Readonly<Record<string, string>>): void => go({ options: { ...options, ...more } });
  return (
    <header>
      <ProjectPicker
        me={me}
        project={address.project}
        onProject={(project) =>
          go({
            project,
            view: view === "trace" ? "traces" : view,
            traceId: undefined,
            options: { ...sharedOptions(options), q: "", calls: "" },
          })
        }
      />
      <span className="space" />
      {view !== "trace" && view !== "settings" && window !== undefined && (
        <RangePicker {...{ address, window, zone, change }} />
      )}
      <ZonePicker zone={zone} onZone={(name) => change({ zone: name })} />
      <button className="find-all" onClick={find} title="Find anything (Ctrl K)">
        <span aria-hidden="true">⌕</span> <span className="wide-only">Find</span> <kbd>Ctrl K</kbd>
      </button>
      <button className="quiet" onClick={help} aria-label="Keys" title="Keys (?)">
        ?
      </button>
    </header>
  );
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
