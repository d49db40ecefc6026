import type { FastifyReply, FastifyRequest } from "fastify";
import type { FairSemaphore, Permit } from "../fairness/fair-semaphore.ts";
import { AppError } from "../shared/errors.ts";
import { secretMask, type SecretMask } from "../shared/secret-mask.ts";
import { upstreamSecrets } from "./relay/credential.ts";
import { Relay, type RelayOptions } from "./relay/relay.ts";
import { openUpstream, type UpstreamOptions } from "./relay/upstream.ts";
import { Upstreams, type UpstreamsSettings } from "./upstreams.ts";

export interface GatewaySettings extends UpstreamsSettings, Omit<UpstreamOptions, "baseUrl" | "connections"> {
  /** Limiter of open requests; excess requests are rejected. */
  readonly open: FairSemaphore;
}

/** Upstreams and their open relays. */
export class Gateway {
  readonly upstreams: Upstreams;
  readonly #slots: FairSemaphore;
  readonly #mask: SecretMask;
  readonly #open = new Set<Relay>();
  #stopping = false;
  #grace: NodeJS.Timeout | undefined;

  constructor(settings: GatewaySettings) {
    const { training, chat, anthropic, gemini, routes = [], open } = settings;
    this.#mask = secretMask([training, chat, anthropic, gemini, ...routes].flatMap(upstreamSecrets));
    this.#slots = open;
    this.upstreams = new Upstreams(settings, (baseUrl) =>
      openUpstream({ ...settings, baseUrl, connections: open.capacity }),
    );
  }

  /**
   * Acquires an open-request permit until the response closes. Returns false if the client has already disconnected. Throws
   * `concurrency_limit`.
   */
  enter({ grant }: FastifyRequest, reply: FastifyReply): boolean {
    if (reply.raw.destroyed) {
      reply.hijack();
      return false;
    }
    const permit = this.#slots.tryAcquire(grant.tenant);
    if (permit === undefined) {
      throw new AppError("concurrency_limit", "Concurrency limit reached for requests", {
        retryAfterSeconds: 1,
      });
    }
    reply.raw.once("close", () => permit.release());
    return true;
  }

  /** Relays one request; resolves when both sides have ended. Throws `AppError` if no response could be relayed. */
  async relay(request: FastifyRequest, reply: FastifyReply, options: RelayOptions): Promise<void> {
    if (this.#stopping) {
      throw new AppError("service_overloaded", "The gateway is stopping.", { retryAfterSeconds: 1 });
    }
    const acquireSlot = (): Permit | undefined =>
      this.#stopping ? undefined : this.#slots.tryAcquire(request.grant.tenant);
    const relay = new Relay(request, reply, { ...options, mask: this.#mask, acquireSlot });
    this.#open.add(relay);
    try {
      await relay.closed;
    } finally {
      this.#open.delete(relay);
    }
  }

  /** Rejects new relays and aborts open ones after `graceMs`. */
  stop(graceMs: number): void {
    this.#stopping = true;
    for (const relay of this.#open) relay.stopReadingOn();
    this.#grace = setTimeout(() => {
      for (const relay of this.#open) relay.stop();
    }, graceMs);
  }

  /** Resolves when no relay is open. */
  async drain(): Promise<void> {
    await Promise.allSettled([...this.#open].map((relay) => relay.closed));
    clearTimeout(this.#grace);
  }

  async close(): Promise<void> {
    await Promise.all(this.upstreams.all.map(({ upstream }) => upstream.close()));
  }
}
