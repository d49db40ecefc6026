import type { ReactNode } from "react";
import type { Whoami } from "../api/routes.ts";
import { Notice } from "../components/notice.tsx";
import { useAddress } from "../state/use-address.ts";
import type { View } from "../state/url-state.ts";
import { readWindow } from "../state/time-range.ts";
import { HERE, isZone } from "../state/zones.ts";
import { lazy } from "../components/lazy.tsx";
import { prepareWorker } from "../trace/load/start-worker.ts";
import { TraceView } from "../trace/view.tsx";
import { TracesView } from "../traces/view.tsx";
import { Finder } from "./finder.tsx";
import { KeysHelp } from "./keys-help.tsx";
import { NothingYet } from "./nothing-yet.tsx";
import { Rail } from "./rail.tsx";
import { TopBar } from "./top-bar.tsx";
import { useShortcuts } from "./use-shortcuts.ts";

const LAZY = {
  overview: lazy("overview", async () => (await import("../overview/view.tsx")).OverviewView),
  usage: lazy("usage", async () => (await import("../usage/view.tsx")).UsageView),
  feedback: lazy("feedback", async () => (await import("../feedback/view.tsx")).FeedbackView),
  training: lazy("training", async () => (await import("../training/view.tsx")).TrainingView),
  settings: lazy("settings", async () => (await import("../settings/view.tsx")).SettingsView),
};

interface ProjectProps {
  readonly me: Whoami;
  /** Asks again what the key may see. */
  readonly refetch: () => void;
  readonly signOut: () => void;
}

/** The view and project that the address names. */
export function Project({ me, refetch, signOut }: ProjectProps) {
  const [asked, go] = useAddress();
  const [opened, setOpened] = useShortcuts();
  const seen = me.projects_with_data;
  const project = asked.project ?? seen?.[0];
  const address = { ...asked, project };
  const { view, traceId } = asked;
  const { zone: askedZone, window: range } = asked.options;
  const zone = isZone(askedZone) ? askedZone : HERE;
  const window = readWindow(range, { now: Date.now(), zone });
  const shown = (): ReactNode => {
    if (seen === null) return <NoAccess me={me} />;
    if (project === undefined || isEmpty(me, project, view))
      return <NothingYet project={project ?? ownProject(me)} refetch={refetch} />;
    if (window === undefined)
      return (
        <UnknownWindow text={range ?? ""} onReset={() => go({ options: { ...asked.options, window: "" } })} />
      );
    const props = { me, address, project, zone, go };
    if (view === "trace")
      return <TraceView key={`${project}\n${traceId}`} {...props} traceId={traceId ?? ""} />;
    if (view === "traces") return <TracesView {...props} onShown={prepareWorker} />;
    const View = LAZY[view];
    return <View {...props} />;
  };
  return (
    <div className="frame">
      <Rail {...{ me, address, signOut }} />
      <div className="page">
        <TopBar {...{ me, address, zone, window, go }} open={setOpened} />
        {askedZone !== undefined && askedZone !== zone && (
          <Notice
            kind="warning"
            title={`“${askedZone}” is no zone of the list: days are those of ${zone}.`}
          />
        )}
        {shown()}
      </div>
      {opened === "finder" && project !== undefined && window !== undefined && (
        <Finder
          {...{ me, project, window, address, signOut }}
          showKeys={() => setOpened("keys")}
          onClose={() => setOpened(undefined)}
        />
      )}
      {opened === "keys" && <KeysHelp onClose={() => setOpened(undefined)} />}
    </div>
  );
}

/** The project that a first call is sent to. */
function ownProject({ projects }: Whoami): string {
  return projects.find((one) => !one.includes("*")) ?? "acme/app";
}

/** The views of what was sent. */
const COUNTED: readonly View[] = ["overview", "traces", "usage"];

/** True for a project of the key that has no data yet. */
function isEmpty({ projects, projects_with_data, truncated }: Whoami, project: string, view: View): boolean {
  if (!COUNTED.includes(view) || truncated || projects_with_data?.includes(project) !== false) return false;
  return projects.some((one) => one === "*" || one === project || one === `${project.split("/")[0]}/*`);
}

function NoAccess({ me }: { readonly me: Whoami }) {
  return (
    <main>
      <h1 className="unseen">Nothing to see</h1>
      <Notice
        kind="warning"
        title={`The key “${me.name}” may not read: its scopes are ${me.scopes.join(", ")}.`}
      >
        Use one with the scope <code>read</code>.
      </Notice>
    </main>
  );
}

function UnknownWindow({ text, onReset }: { readonly text: string; readonly onReset: () => void }) {
  return (
    <main>
      <h1 className="unseen">No such range</h1>
      <Notice kind="error" title={`“${text}” is no range, so nothing is shown.`}>
        A range has a name of the list above, such as <code>7d</code> or <code>yesterday</code>, or two
        instants: <code>2026-11-01T00:00Z..2026-11-02T00:00Z</code>.{" "}
        <button onClick={onReset}>Show the last 7 days</button>
      </Notice>
    </main>
  );
}
