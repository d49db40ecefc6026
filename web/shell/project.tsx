import type { Whoami } from "../api/routes.ts";
import { Notice } from "../components/notice.tsx";
import type { UrlState } from "../state/url-state.ts";
import { useAddress, type Go } from "../state/use-address.ts";
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

interface ProjectProps {
  readonly me: Whoami;
  readonly signOut: () => void;
}

/** The view and project that the address names. */
export function Project({ me, signOut }: ProjectProps) {
  const [address, go] = useAddress();
  const { isFinding, isHelping, find, help, close } = useShortcuts();
  const seen = me.projects_with_data;
  const project = address.project ?? seen?.[0];
  const place = { ...address, project };
  const asked = address.options["zone"];
  const zone = isZone(asked) ? asked : HERE;
  const window = readWindow(address.options["window"], { now: Date.now(), zone });
  return (
    <div className="frame">
      <Rail {...{ me, signOut }} address={place} />
      <div className="page">
        <TopBar {...{ me, zone, go, window, find, help }} address={place} />
        <Refused zone={asked} isZoneKnown={asked === undefined || isZone(asked)} shown={zone} />
        {seen === null && (
          <main>
            <h1 className="unseen">Nothing to see</h1>
            <Notice
              kind="warning"
              title={`The key “${me.name}” may not read: its scopes are ${me.scopes.join(", ")}.`}
            >
              Use one with the scope <code>read</code>.
            </Notice>
          </main>
        )}
        {seen !== null && project === undefined && <NothingYet me={me} project={undefined} />}
        {seen !== null && project !== undefined && window === undefined && (
          <UnknownWindow text={address.options["window"] ?? ""} go={go} address={address} />
        )}
        {seen !== null && project !== undefined && window !== undefined && (
          <View {...{ me, project, zone, go }} address={place} />
        )}
      </div>
      {isFinding && project !== undefined && (
        <Finder {...{ me, project, zone, go, help, signOut }} address={place} onClose={close} />
      )}
      {isHelping && <KeysHelp onClose={close} />}
    </div>
  );
}

interface RefusedProps {
  readonly zone: string | undefined;
  readonly isZoneKnown: boolean;
  readonly shown: string;
}

function Refused({ zone, isZoneKnown, shown }: RefusedProps) {
  if (isZoneKnown) return null;
  return (
    <Notice kind="warning" title={`“${zone ?? ""}” is no zone of the list: days are those of ${shown}.`} />
  );
}

interface UnknownWindowProps {
  readonly text: string;
  readonly address: UrlState;
  readonly go: Go;
}

function UnknownWindow({ text, address, go }: UnknownWindowProps) {
  return (
    <main>
      <h1 className="unseen">No such range</h1>
      <Notice kind="error" title={`“${text}” is no range, so nothing is shown.`}>
        A range has a name of the list above, such as <code>7d</code> or <code>yesterday</code>, or two
        instants: <code>2026-11-01T00:00Z..2026-11-02T00:00Z</code>.{" "}
        <button onClick={() => go({ options: { ...address.options, window: "" } })}>
          Show the last 7 days
        </button>
      </Notice>
    </main>
  );
}

const FeedbackView = lazy("feedback", () =>
  import("../feedback/view.tsx").then((module) => module.FeedbackView),
);
const UsageView = lazy("usage", () => import("../usage/view.tsx").then((module) => module.UsageView));
const OverviewView = lazy("overview", () =>
  import("../overview/view.tsx").then((module) => module.OverviewView),
);
const SettingsView = lazy("settings", () =>
  import("../settings/view.tsx").then((module) => module.SettingsView),
);

interface ViewProps {
  readonly me: Whoami;
  readonly address: UrlState;
  readonly project: string;
  readonly zone: string;
  readonly go: Go;
}

function View(props: ViewProps) {
  const { view, traceId, project } = props.address;
  if (view === "trace" && traceId !== undefined)
    return <TraceView key={`${project ?? ""}\n${traceId}`} {...props} traceId={traceId} />;
  if (view === "overview") return <OverviewView {...props} />;
  if (view === "usage") return <UsageView {...props} />;
  if (view === "feedback") return <FeedbackView {...props} />;
  if (view === "settings") return <SettingsView {...props} />;
  return <TracesView {...props} onShown={prepareWorker} />;
}
