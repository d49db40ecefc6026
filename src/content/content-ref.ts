/** One step into a value: a member, an item of a list, or the row of a table. */
export interface Step {
  readonly edge: "attr" | "key" | "index" | "id";
  readonly name: string;
}

/** A reference to a version of an object (such as an op) or to a table, with a path into it. */
export type ContentRef = {
  /** `entity/project`, not validated. */
  readonly projectId: string;
  readonly path: readonly Step[];
} & (
  | { readonly kind: "object"; readonly objectId: string; readonly version: string }
  | { readonly kind: "table"; readonly digest: string }
);

const REF =
  /^weave:\/\/\/(?<project>[^/]+\/[^/]+)\/(?<kind>object|op|table)\/(?<name>[^/]+)(?<path>(?:\/[^/]+\/[^/]*)*)$/;
const EDGES = new Set(["attr", "key", "index", "id"]);

/** Parses a content reference; `undefined` for other text. */
export function parseContentRef(text: string): ContentRef | undefined {
  const { project: projectId, kind, name, path: written } = REF.exec(text)?.groups ?? {};
  if (projectId === undefined || name === undefined) return undefined;
  const path = parsePath(written ?? "");
  if (path === undefined) return undefined;
  if (kind === "table") return { kind, projectId, path, digest: name };
  const colon = name.lastIndexOf(":");
  if (colon < 1) return undefined;
  return { kind: "object", projectId, path, objectId: name.slice(0, colon), version: name.slice(colon + 1) };
}

function parsePath(written: string): readonly Step[] | undefined {
  const segments = written.split("/").slice(1);
  const steps: Step[] = [];
  for (let at = 0; at < segments.length; at += 2) {
    const [edge, name] = [segments[at]!, decode(segments[at + 1]!)];
    if (!EDGES.has(edge) || name === undefined) return undefined;
    steps.push({ edge: edge as Step["edge"], name });
  }
  return steps;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
