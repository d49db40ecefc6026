import { AppError } from "../shared/errors.ts";
import { providerAt } from "../usage/provider-at.ts";
import { apiOfPath, isTrainingPath, normalizePath, type Api } from "./apis/endpoint-paths.ts";
import { credentialOf, type Credential } from "./relay/credentials.ts";
import type { Upstream } from "./relay/upstream.ts";
import { pathBehindPrefix } from "./relay/upstream-path.ts";

export interface UpstreamSettings {
  /** Base URL with path, and optionally query, user and password. Undefined: not configured. */
  readonly url: string | undefined;
  readonly apiKey: string | undefined;
  /** Provider; default: implied by the URL. */
  readonly provider?: string | undefined;
}

/** Entry of the routes file: match conditions and upstream. */
export interface RouteSettings extends UpstreamSettings {
  readonly url: string;
  readonly api: Api;
  /** Patterns with `*` wildcards. Undefined: matches everything. */
  readonly paths?: readonly string[] | undefined;
  readonly models?: readonly string[] | undefined;
}

type OwnName = "training" | "chat" | "anthropic" | "gemini";

/** `routes`: replace `chat`, `anthropic`, `gemini`, and `training` for non-training paths. */
export interface UpstreamsSettings extends Readonly<Record<OwnName, UpstreamSettings>> {
  readonly routes: readonly RouteSettings[] | undefined;
}

export interface Target {
  readonly name: string;
  readonly upstream: Upstream;
  /** Determines model list format and credential header. */
  readonly api: Api;
  readonly credential: Credential | undefined;
  readonly provider: string | undefined;
}

export interface RouteQuery {
  /** Without `/v1`. */
  readonly path: string;
  readonly model?: string | undefined;
}

/** A pattern with `*` wildcards, as its literal parts. */
type Pattern = readonly string[];

interface Route {
  readonly target: Target;
  readonly paths: readonly Pattern[];
  /** Undefined: matches any model. */
  readonly models: readonly Pattern[] | undefined;
}

type Open = (url: string) => Upstream;

/** Upstreams that may serve an API, by preference. */
const PREFERRED: Readonly<Record<Api | "training", readonly OwnName[]>> = {
  openai: ["chat", "training"],
  anthropic: ["anthropic", "chat", "training"],
  gemini: ["gemini"],
  training: ["training"],
};
const MISSING: Readonly<Record<Api | "training", string>> = {
  openai: "No model upstream is configured. Set CHAT_UPSTREAM_URL or TRAINING_UPSTREAM_URL.",
  anthropic: "No upstream for Anthropic messages is configured. Set ANTHROPIC_UPSTREAM_URL.",
  gemini: "No upstream for Gemini is configured. Set GEMINI_UPSTREAM_URL.",
  training: "No training upstream is configured. Set TRAINING_UPSTREAM_URL.",
};

/** All upstreams, and the routing of requests to them. */
export class Upstreams {
  readonly #own: ReadonlyMap<string, Target>;
  readonly #routes: readonly Route[] | undefined;

  constructor({ routes, ...own }: UpstreamsSettings, open: Open) {
    const names = ["training", "chat", "anthropic", "gemini"] as const;
    const targets = names.flatMap((name) => targetOf(name, own[name], open) ?? []);
    this.#own = new Map(targets.map((target) => [target.name, target]));
    this.#routes = routes && openRoutes(routes, open);
  }

  /** Configured state by upstream name; optional upstreams appear only if configured. */
  get configured(): Readonly<Record<string, boolean>> {
    return { training: false, chat: false, ...Object.fromEntries(this.all.map(({ name }) => [name, true])) };
  }

  /** Distinct upstreams. */
  get all(): readonly Target[] {
    return [...new Set([...this.#own.values(), ...this.#routed])];
  }

  /** Distinct upstreams that serve models. */
  get modelTargets(): readonly Target[] {
    if (this.#routes !== undefined) return [...new Set(this.#routed)];
    const targets = [this.#preferred("openai"), this.#own.get("anthropic"), this.#own.get("gemini")];
    return targets.filter((target) => target !== undefined);
  }

  get #routed(): readonly Target[] {
    return (this.#routes ?? []).map(({ target }) => target);
  }

  #preferred(api: Api | "training"): Target | undefined {
    return PREFERRED[api].map((name) => this.#own.get(name)).find((target) => target !== undefined);
  }

  named(name: string): Target | undefined {
    return this.all.find((target) => target.name === name);
  }

  /** Returns the training upstream. Throws upstream_not_configured. */
  training(): Target {
    return this.#require("training");
  }

  /** True if routing this path requires the model. */
  dependsOnModel(path: string): boolean {
    if (isTrainingPath(path)) return false;
    return this.#routes?.find((route) => matchesPath(route, path))?.models !== undefined;
  }

  /** Returns the upstream of a request. Throws upstream_not_configured; not_found if no route matches. */
  targetFor({ path, model }: RouteQuery): Target {
    if (isTrainingPath(path)) return this.training();
    if (this.#routes === undefined) return this.#require(apiOfPath(path));
    const found = this.#routes.find(
      (route) =>
        matchesPath(route, path) &&
        (route.models === undefined || (model !== undefined && matches(route.models, model))),
    );
    if (found !== undefined) return found.target;
    throw new AppError("not_found", "No route in GATEWAY_ROUTES_FILE matches this path and model.");
  }

  #require(api: Api | "training"): Target {
    const target = this.#preferred(api);
    if (target === undefined) throw new AppError("upstream_not_configured", MISSING[api]);
    return target;
  }
}

function openRoutes(routes: readonly RouteSettings[], open: Open): readonly Route[] {
  const known = new Map<string, Target>();
  const names = new Set<string>();
  return routes.map(({ paths, models, ...settings }) => {
    const key = JSON.stringify(settings);
    const target = known.get(key) ?? targetOf(nameAmong(names, settings), settings, open)!;
    known.set(key, target);
    return { target, paths: (paths ?? ["*"]).map(partsOf), models: models?.map(partsOf) };
  });
}

/** Names a target by its host, numbered if several share it. */
function nameAmong(names: Set<string>, { url }: RouteSettings): string {
  const { host } = new URL(url);
  let name = host;
  for (let number = 2; names.has(name); number++) name = `${host} (${number})`;
  names.add(name);
  return name;
}

function targetOf(
  name: string,
  settings: UpstreamSettings & { readonly api?: Api },
  open: Open,
): Target | undefined {
  const {
    url,
    apiKey,
    provider,
    api = name === "anthropic" || name === "gemini" ? name : "openai",
  } = settings;
  if (url === undefined) return undefined;
  const upstream = open(url);
  const base = upstream.base.url;
  const credential = credentialOf(base, apiKey, api);
  return { name, api, credential, upstream, provider: provider ?? providerAt(base.hostname) };
}

/** True for a path without `/v1` of a route. Those of Gemini's API, whose URLs have no version, go to its upstreams only. */
function matchesPath({ target, paths }: Route, path: string): boolean {
  const isGemini = apiOfPath(path) === "gemini";
  const prefix = path.startsWith("/v1beta") ? "" : "/v1";
  return isGemini === (target.api === "gemini") && matches(paths, prefix + normalizePath(path));
}

function partsOf(pattern: string): Pattern {
  return pattern.split("*");
}

/** Matches in one pass: finds each literal part after the previous one. */
function matches(patterns: readonly Pattern[], text: string): boolean {
  return patterns.some(([first = "", ...others]) => {
    const last = others.pop();
    if (last === undefined) return text === first;
    if (!text.startsWith(first)) return false;
    let at = first.length;
    for (const part of others) {
      const found = text.indexOf(part, at);
      if (found === -1) return false;
      at = found + part.length;
    }
    return text.length - last.length >= at && text.endsWith(last);
  });
}

/** Returns the entry that lets a request without a route of its own pass; undefined if none does. */
export type PassThrough = (request: { readonly method: string; readonly url: string }) => string | undefined;

/**
 * Matches requests to `[METHOD ]path` entries. An entry matches its path and subpaths literally, by any method if it
 * names none; `/` matches all.
 */
export function passThrough(list: readonly string[]): PassThrough {
  const entries = list.map((text) => {
    const [path = "", method] = text.split(" ").toReversed();
    return { text, method, path: path.replace(/\/+$/, "") };
  });
  return ({ method, url }) => {
    const requested = `${normalizePath(pathBehindPrefix(url))}/`;
    const by = method === "HEAD" ? "GET" : method;
    return entries.find(
      (entry) =>
        (entry.method === undefined || entry.method === by) && requested.startsWith(`${entry.path}/`),
    )?.text;
  };
}
