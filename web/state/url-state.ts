/** The state of the page, as the part of the address behind `#`, which is sent to no server. */
export interface UrlState {
  /** `entity/project`; undefined: not chosen. */
  readonly project: string | undefined;
  readonly view: View;
  /** Trace id, in the view `trace`. */
  readonly traceId: string | undefined;
  readonly options: Readonly<Record<string, string>>;
}

export const VIEWS = ["overview", "traces", "trace", "usage", "feedback", "settings"] as const;
export type View = (typeof VIEWS)[number];

/** Ignores everything unknown: people type, shorten and mail addresses. */
export function readAddress(hash: string): UrlState {
  const [path = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
  const [entity, project, view, ...rest] = path.split("/").filter(Boolean).map(decoded);
  const known = VIEWS.find((one) => one === view) ?? (view === undefined ? "overview" : "traces");
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
