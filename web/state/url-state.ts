/** The state of the page, as the part of the address behind `#`, which is sent to no server. */
export interface UrlState {
  /** `entity/project`; undefined: not chosen. */
  readonly project: string | undefined;
  readonly view: View;
  /** Trace id, in the view `trace`. */
  readonly traceId: string | undefined;
  readonly options: Readonly<Record<string, string>>;
}

/** Names of the views that can be chosen. */
export const VIEW_NAMES = {
  overview: "Overview",
  traces: "Traces",
  usage: "Usage",
  feedback: "Feedback",
  training: "Training",
  settings: "Settings",
} as const;
export type View = keyof typeof VIEW_NAMES | "trace";

function isView(text: string): text is View {
  return text === "trace" || Object.hasOwn(VIEW_NAMES, text);
}

const SHARED = "window zone compare q fields sort group measure as interval of rows outcome".split(" ");

/** The options that lists share; those of a trace are left behind. */
export function sharedOptions(options: UrlState["options"]): UrlState["options"] {
  return Object.fromEntries(SHARED.map((name) => [name, options[name] ?? ""]));
}

/** Ignores everything unknown: people type, shorten and mail addresses. */
export function readAddress(hash: string): UrlState {
  const [path = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
  const [entity, project, view = "overview", ...rest] = path.split("/").filter(Boolean).map(decoded);
  const known = isView(view) ? view : "traces";
  const traceId = known === "trace" ? rest[0] : undefined;
  return {
    project: entity === undefined || project === undefined ? undefined : `${entity}/${project}`,
    view: known === "trace" && traceId === undefined ? "traces" : known,
    traceId,
    options: Object.fromEntries(new URLSearchParams(query)),
  };
}

export function printAddress({ project, view, traceId, options }: UrlState): string {
  const segments = [...(project?.split("/") ?? []), ...(project === undefined ? [] : [view])];
  if (view === "trace" && traceId !== undefined) segments.push(traceId);
  const given = Object.entries(options).filter(([, value]) => value !== "");
  const query = new URLSearchParams(given).toString();
  return `#/${segments.map(encodeURIComponent).join("/")}${query === "" ? "" : `?${query}`}`;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** A key in the address, `#key=st_…`, and where to go next. */
export function handedKey(hash: string): { readonly key: string; readonly hash: string } | undefined {
  const found = /^#key=([^&]+)(?:&to=(.*))?$/.exec(hash);
  return found?.[1] === undefined
    ? undefined
    : { key: decoded(found[1]), hash: `#${decoded(found[2] ?? "/")}` };
}

/** The address of a view, with some options changed. */
export type HrefTo = (view: View, more?: UrlState["options"]) => string;
