import type { Whoami } from "../api/routes.ts";
import { sharedOptions, type UrlState } from "../state/url-state.ts";
import type { TimeRange } from "../state/time-range.ts";
import type { Go } from "../state/use-address.ts";
import { ShareMenu } from "./share-menu.tsx";
import { RangePicker } from "./range-picker.tsx";
import type { Opened } from "./use-shortcuts.ts";
import { ZonePicker } from "./zone-picker.tsx";

interface TopBarProps {
  readonly me: Whoami;
  readonly address: UrlState;
  readonly zone: string;
  /** Undefined: the address names none. */
  readonly window: TimeRange | undefined;
  readonly go: Go;
  readonly open: (opened: Opened) => void;
}

/** Bar shared by all views: project, range, zone and navigation. */
export function TopBar({ me, address, zone, window, go, open }: TopBarProps) {
  const { project, view, options } = address;
  const change = (more: UrlState["options"]): void => go({ options: { ...options, ...more } });
  const known = me.projects_with_data ?? [];
  const projects = project === undefined || known.includes(project) ? known : [project, ...known];
  return (
    <header>
      {projects.length > 0 && (
        <select
          aria-label="Project"
          value={project}
          onChange={(event) =>
            go({
              project: event.currentTarget.value,
              view: view === "trace" ? "traces" : view,
              traceId: undefined,
              options: { ...sharedOptions(options), q: "" },
            })
          }
        >
          {projects.map((name) => (
            <option key={name}>{name}</option>
          ))}
          {me.truncated && <option disabled>and more</option>}
        </select>
      )}
      <span className="space" />
      {view !== "trace" && view !== "settings" && window !== undefined && (
        <RangePicker {...{ address, window, zone, change }} />
      )}
      <ZonePicker zone={zone} onZone={(name) => change({ zone: name })} />
      {project !== undefined && <ShareMenu {...{ me, project, address, window }} />}
      <button className="find-all" onClick={() => open("finder")} title="Find anything (Ctrl K)">
        <span aria-hidden="true">⌕</span> <span className="wide-only">Find</span> <kbd>Ctrl K</kbd>
      </button>
      <button className="quiet" onClick={() => open("keys")} aria-label="Keys" title="Keys (?)">
        ?
      </button>
    </header>
  );
}
