import { AppError } from "../shared/errors.ts";
import { providerAt } from "../usage/provider-at.ts";
import type { Api } from "./apis/model-api.ts";
import { isAnthropicPath, isTrainingPath, normalizePath } from "./apis/endpoint-paths.ts";
import { credentialOf } from "./relay/credential.ts";
import type { Credential } from "./relay/headers.ts";
import type { RelayTarget } from "./relay/relay.ts";
import type { Upstream } from "./relay/upstream.ts";

export interface UpstreamSettings {
  /** With its path, and what else all requests have: a query, a user and a password. Undefined: there is no such upstream. */
  readonly url: string | undefined;
  readonly apiKey: string | undefined;
  /** The provider there. Undefined: the one that its address implies, if any. */
  readonly provider?: string | undefined;
}

/** An entry of the routes file: what it is for, and where that goes. */
export interface RouteSettings extends UpstreamSettings {
  readonly url: string;
  readonly api: Api;
  /** Patterns, in which `*` stands for anything. Undefined: every path, every model. */
  readonly paths?: readonly string[] | undefined;
  readonly models?: readonly string[] | undefined;
}

export interface UpstreamsSettings {
  readonly training: UpstreamSettings;
  readonly chat: UpstreamSettings;
  readonly anthropic: UpstreamSettings;
  /** In place of `chat` and `anthropic`, and of `training` for what is not of training. */
  readonly routes: readonly RouteSettings[] | undefined;
}

export interface Target extends RelayTarget {
  /** How its models are listed, and where it takes a key. */
  readonly api: Api;
  /** The credential sent there. */
  readonly credential: Credential | undefined;
  /** The provider there: as set, or else as its address implies. */
  readonly provider: string | undefined;
  /** The path for chat: with a final slash once the upstream has redirected there. */
  chatPath: string;
}

/** Where a request leads: its path, as it came or as a door has it, and its model, as far as it names one. */
export interface Asked {
  /** Behind `/v1`. */
  readonly path: string;
  readonly model?: string | undefined;
}

interface Route {
  readonly target: Target;
  readonly fitsPath: (path: string) => boolean;
  /** Undefined: whatever the model. */
  readonly fitsModel: ((model: string) => boolean) | undefined;
}

type Open = (settings: UpstreamSettings & { readonly url: string }) => Upstream;

/** All upstreams, and which of them a request leads to. */
export class Upstreams {
  readonly #training: Target | undefined;
  readonly #chat: Target | undefined;
  readonly #anthropic: Target | undefined;
  readonly #routes: readonly Route[] | undefined;

  constructor({ training, chat, anthropic, routes }: UpstreamsSettings, open: Open) {
    this.#training = targetOf("training", training, open);
    this.#chat = targetOf("chat", chat, open);
    this.#anthropic = targetOf("anthropic", anthropic, open);
    this.#routes = routes && openRoutes(routes, open);
  }

  /** Whether there is an upstream, by name; those that are not usual only if there are. */
  get configured(): Readonly<Record<string, boolean>> {
    const routed = (this.#routes ?? []).map(({ target }) => [target.name, true] as const);
    return {
      training: this.#training !== undefined,
      chat: this.#chat !== undefined,
      ...(this.#anthropic === undefined ? {} : { anthropic: true }),
      ...Object.fromEntries(routed),
    };
  }

  /** Each once. */
  get all(): readonly Target[] {
    return distinct([this.#training, this.#chat, this.#anthropic, ...this.#routed]);
  }

  /** Those whose models a client may ask for, each once. */
  get ofModels(): readonly Target[] {
    if (this.#routes !== undefined) return distinct(this.#routed);
    return distinct([this.#chat ?? this.#training, this.#anthropic]);
  }

  get #routed(): readonly Target[] {
    return (this.#routes ?? []).map(({ target }) => target);
  }

  named(name: string): Target | undefined {
    return this.all.find((target) => target.name === name);
  }

  /** The upstream for training. Errors: upstream_not_configured. */
  training(): Target {
    return ready(
      this.#training,
      "TRAINING_UPSTREAM_URL is not set: there is no training service behind this gateway.",
    );
  }

  /** Whether the model of a request decides where it leads. */
  dependsOnModel(path: string): boolean {
    const asked = `/v1${normalizePath(path)}`;
    const first = this.#routes?.find((route) => route.fitsPath(asked));
    return first?.fitsModel !== undefined;
  }

  /** The upstream for a request. Errors: upstream_not_configured; not_found, if no route fits. */
  leadingTo({ path, model }: Asked): Target {
    if (isTrainingPath(path)) return this.training();
    if (this.#routes !== undefined) return this.#byRoute(path, model);
    if (isAnthropicPath(path)) {
      return ready(
        this.#anthropic ?? this.#chat ?? this.#training,
        "ANTHROPIC_UPSTREAM_URL is not set: there is no service for messages behind this gateway.",
      );
    }
    return ready(
      this.#chat ?? this.#training,
      "Neither CHAT_UPSTREAM_URL nor TRAINING_UPSTREAM_URL is set: there is no model service behind this gateway.",
    );
  }

  #byRoute(path: string, model: string | undefined): Target {
    const asked = `/v1${normalizePath(path)}`;
    const found = this.#routes!.find(
      ({ fitsPath, fitsModel }) =>
        fitsPath(asked) && (fitsModel === undefined || (model !== undefined && fitsModel(model))),
    );
    if (found !== undefined) return found.target;
    throw new AppError("not_found", "No entry of GATEWAY_ROUTES_FILE fits this path and this model.");
  }
}

function openRoutes(routes: readonly RouteSettings[], open: Open): readonly Route[] {
  const known = new Map<string, Target>();
  const names = new Set<string>();
  return routes.map(({ paths, models, ...settings }) => {
    const key = JSON.stringify(settings);
    const target = known.get(key) ?? targetOf(nameAmong(names, settings), settings, open)!;
    known.set(key, target);
    return {
      target,
      fitsPath: paths === undefined ? () => true : fitting(paths),
      fitsModel: models === undefined ? undefined : fitting(models),
    };
  });
}

/** By its host; of several there, each by another number. */
function nameAmong(names: Set<string>, { url }: RouteSettings): string {
  const { host } = new URL(url);
  let name = host;
  for (let number = 2; names.has(name); number++) name = `${host} (${number})`;
  names.add(name);
  return name;
}

function targetOf(
  name: string,
  { api, ...settings }: UpstreamSettings & { readonly api?: Api },
  open: Open,
): Target | undefined {
  const { url, apiKey, provider } = settings;
  if (url === undefined) return undefined;
  const upstream = open({ ...settings, url });
  const spoken = api ?? (name === "anthropic" ? "anthropic" : "openai");
  return {
    name,
    variable: api === undefined ? `${name.toUpperCase()}_UPSTREAM_URL` : "GATEWAY_ROUTES_FILE",
    api: spoken,
    credential: credentialOf(upstream.base.url, apiKey, spoken),
    upstream,
    provider: provider ?? providerAt(upstream.base.url.hostname),
    chatPath: "/chat/completions",
  };
}

/** Whether a text fits one of some patterns, in which `*` stands for anything. */
function fitting(patterns: readonly string[]): (text: string) => boolean {
  const parts = patterns.map((pattern) => pattern.split("*"));
  return (text) => parts.some((one) => fits(text, one));
}

/** In one pass: each part is looked for behind the one before it. */
function fits(text: string, [first = "", ...others]: readonly string[]): boolean {
  if (others.length === 0) return text === first;
  if (!text.startsWith(first)) return false;
  const last = others.at(-1)!;
  let at = first.length;
  for (const part of others.slice(0, -1)) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

function distinct(targets: readonly (Target | undefined)[]): readonly Target[] {
  return [...new Set(targets.filter((target) => target !== undefined))];
}

function ready(target: Target | undefined, missing: string): Target {
  if (target === undefined) throw new AppError("upstream_not_configured", missing);
  return target;
}
