import type { FastifyReply, FastifyRequest } from "fastify";
import type { FairSemaphore, Permit } from "../fairness/fair-semaphore.ts";
import { AppError } from "../shared/errors.ts";
import { secretMask } from "../shared/secret-mask.ts";
import { upstreamSecrets } from "./relay/credential.ts";
import { startRelay, type RelayOptions, type RunningRelay } from "./relay/relay.ts";
import { openUpstream, type UpstreamOptions } from "./relay/upstream.ts";
import { Upstreams, type UpstreamsSettings } from "./upstreams.ts";

export interface GatewaySettings
  extends UpstreamsSettings, Omit<UpstreamOptions, "baseUrl" | "connections" | "mask"> {
  /** The requests that are open; more are rejected. */
  readonly open: FairSemaphore;
}

/** The upstreams and their open relays. */
export class Gateway {
  readonly upstreams: Upstreams;
  readonly #places: FairSemaphore;
  readonly #open = new Set<RunningRelay>();
  #stopping = false;
  #grace: NodeJS.Timeout | undefined;

  constructor(settings: GatewaySettings) {
    const { training, chat, anthropic, routes = [], open } = settings;
    const { connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs, keepAliveMs } = settings;
    const mask = secretMask([training, chat, anthropic, ...routes].flatMap(upstreamSecrets));
    const times = { connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs, keepAliveMs };
    this.#places = open;
    this.upstreams = new Upstreams(settings, ({ url }) =>
      openUpstream({ baseUrl: url, connections: open.capacity, ...times, mask }),
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
    const held = this.#places.tryAcquire(grant.tenant);
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
    const takePlace = (): Permit | undefined =>
      this.#stopping ? undefined : this.#places.tryAcquire(request.grant.tenant);
    const relay = startRelay(request, reply, { ...options, takePlace });
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
    for (const relay of this.#open) relay.endReadingOn();
    this.#grace = setTimeout(() => {
      for (const relay of this.#open) relay.stop();
    }, graceMs);
  }

  async close(): Promise<void> {
    clearTimeout(this.#grace);
    await Promise.all(this.upstreams.all.map(({ upstream }) => upstream.close()));
  }
}
