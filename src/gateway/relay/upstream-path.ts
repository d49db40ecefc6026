/** A base URL as targets and redirects need it. */
export interface UpstreamBase {
  readonly url: URL;
  /** Without a final slash. */
  readonly path: string;
  /** The parameters of its query, as they are written. */
  readonly parameters: readonly Parameter[];
}

interface Parameter {
  readonly name: string;
  readonly text: string;
}

export function readBase(text: string): UpstreamBase {
  const url = new URL(text);
  return { url, path: url.pathname.replace(/\/+$/, ""), parameters: parametersOf(url.search.slice(1)) };
}

/** The upstream's target of a path, with its query, under the base. Parameters of the base that it names itself win. */
export function targetUnder(base: UpstreamBase, path: string): string {
  if (base.parameters.length === 0) return base.path + path;
  const question = path.indexOf("?");
  const named = new Set(
    parametersOf(question === -1 ? "" : path.slice(question + 1)).map(({ name }) => name),
  );
  const added = base.parameters.filter(({ name }) => !named.has(name)).map(({ text }) => text);
  if (added.length === 0) return base.path + path;
  return `${base.path}${path}${question === -1 ? "?" : "&"}${added.join("&")}`;
}

/** The path of a request to us, with its query, as it stands behind `/v1`. */
export function pathBehindPrefix(url: string): string {
  return url.slice("/v1".length);
}

/** `path` with the query of a request to us. */
export function withQueryOf(url: string, path: string): string {
  const question = url.indexOf("?");
  return question === -1 ? path : path + url.slice(question);
}

function parametersOf(query: string): Parameter[] {
  const texts = query.split("&").filter((text) => text !== "");
  return texts.map((text) => ({ name: [...new URLSearchParams(text).keys()][0] ?? "", text }));
}
