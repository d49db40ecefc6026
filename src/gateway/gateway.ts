import type { FastifyReply, FastifyRequest } from "fastify";
import type { FairShare } from "../shares/fair-share.ts";
import { AppError } from "../shared/errors.ts";
import { secretMask, type SecretMask } from "../shared/secret-mask.ts";
import { providerAt } from "../usage/provider-at.ts";
import { startRelay, type RelayOptions, type RelayTarget, type RunningRelay } from "./relay/relay.ts";
import { openUpstream, type UpstreamOptions } from "./relay/upstream.ts";

export interface UpstreamSettings {
  /** With its path, and what else all requests have: a query, a user and a password. Undefined: there is no such upstream. */
  readonly url: string | undefined;
  readonly apiKey: string | undefined;
  /** The provider there. Undefined: the one that its address implies, if any. */
  readonly provider?: string | undefined;
}

export interface GatewaySettings extends Omit<UpstreamOptions, "baseUrl" | "connections" | "mask"> {
  readonly training: UpstreamSettings;
  readonly chat: UpstreamSettings;
  /** The requests that are open; more are rejected. */
  readonly open: FairShare;
}

export interface Target extends RelayTarget {
  /** The credential sent there. */
  readonly authorization: string | undefined;
  /** The provider there: as set, or else as its address implies. */
  readonly provider: string | undefined;
  /** The path for chat: with a final slash once the upstream has redirected there. */
  chatPath: string;
}

/** The upstreams and their open relays. */
export class Gateway {
  readonly #settings: GatewaySettings;
  readonly #mask: SecretMask;
  readonly #training: Target | undefined;
  readonly #chat: Target | undefined;
  readonly #open = new Set<RunningRelay>();
  #stopping = false;
  #grace: NodeJS.Timeout | undefined;

  constructor(settings: GatewaySettings) {
    this.#settings = settings;
    this.#mask = secretMask([settings.training, settings.chat].flatMap(upstreamSecrets));
    this.#training = this.#openTarget("training", settings.training);
    this.#chat = this.#openTarget("chat", settings.chat);
  }

  get configured(): Readonly<Record<"training" | "chat", boolean>> {
    return { training: this.#training !== undefined, chat: this.#chat !== undefined };
  }

  /** The upstream for training. Errors: upstream_not_configured. */
  training(): Target {
    return ready(
      this.#training,
      "TRAINING_UPSTREAM_URL is not set: there is no training service behind this gateway.",
    );
  }

  /** The upstream for chat: its own, if there is one. Errors: as `training`. */
  chat(): Target {
    return ready(
      this.#chat ?? this.#training,
      "Neither CHAT_UPSTREAM_URL nor TRAINING_UPSTREAM_URL is set: there is no model service behind this gateway.",
    );
  }

  /**
   * Takes one of the places for open requests until the response is closed. False if the client has already left.
   * Errors: concurrency_limit.
   */
  enter({ grant }: FastifyRequest, reply: FastifyReply): boolean {
    if (reply.raw.destroyed) {
      reply.hijack();
      return false;
    }
    const held = this.#settings.open.tryTake(grant.holder);
    if (held === undefined) {
      throw new AppError("concurrency_limit", "Concurrency limit reached for requests", {
        retryAfterSeconds: 1,
      });
    }
    reply.raw.once("close", () => held.release());
    return true;
  }

  /** Relays one request; resolves when it is over. Errors: `AppError`, if there was no response to relay. */
  async relay(request: FastifyRequest, reply: FastifyReply, options: RelayOptions): Promise<void> {
    if (this.#stopping) {
      throw new AppError("service_overloaded", "The gateway is stopping.", { retryAfterSeconds: 1 });
    }
    const relay = startRelay(request, reply, options);
    this.#open.add(relay);
    try {
      await relay.closed;
    } finally {
      this.#open.delete(relay);
    }
  }

  /** No relay begins from now on, and those that are still open after `graceMs` are aborted. */
  stop(graceMs: number): void {
    this.#stopping = true;
    this.#grace = setTimeout(() => {
      for (const relay of this.#open) relay.stop();
    }, graceMs);
  }

  async close(): Promise<void> {
    clearTimeout(this.#grace);
    await Promise.all([this.#training?.upstream.close(), this.#chat?.upstream.close()]);
  }

  #openTarget(name: Target["name"], { url, apiKey, provider }: UpstreamSettings): Target | undefined {
    if (url === undefined) return undefined;
    const { connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs, keepAliveMs, open } = this.#settings;
    const upstream = openUpstream({
      baseUrl: url,
      connections: open.capacity,
      connectTimeoutMs,
      headersTimeoutMs,
      bodyTimeoutMs,
      keepAliveMs,
      mask: this.#mask,
    });
    return {
      name,
      authorization: authorizationOf(upstream.base.url, apiKey),
      upstream,
      provider: provider ?? providerAt(upstream.base.url.hostname),
      chatPath: "/chat/completions",
    };
  }
}

/** The credentials of an upstream, in the forms in which a response could quote them. */
export function upstreamSecrets({ url, apiKey }: UpstreamSettings): string[] {
  if (url === undefined) return apiKey === undefined ? [] : [apiKey];
  const base = new URL(url);
  const basic = authorizationOf(base, undefined)?.slice("Basic ".length);
  const password = decodeURIComponent(base.password);
  return [apiKey, basic, password].filter((secret) => secret !== undefined && secret !== "") as string[];
}

/** The key, else the user and password of the URL. */
function authorizationOf({ username, password }: URL, apiKey: string | undefined): string | undefined {
  if (apiKey !== undefined) return `Bearer ${apiKey}`;
  if (username === "" && password === "") return undefined;
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(pair).toString("base64")}`;
}

function ready(target: Target | undefined, missing: string): Target {
  if (target === undefined) throw new AppError("upstream_not_configured", missing);
  return target;
}
