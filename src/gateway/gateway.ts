import type { FastifyReply, FastifyRequest } from "fastify";
import type { FairSemaphore } from "../fairness/fair-semaphore.ts";
import { AppError } from "../shared/errors.ts";
import { secretMask } from "../shared/secret-mask.ts";
import { hasOwnCredentials, upstreamSecrets } from "./relay/credentials.ts";
import { upstreamHeaders } from "./relay/headers.ts";
import {
  Relay,
  type RelayContext,
  type RelayLimits,
  type RelayMetrics,
  type RelayOptions,
} from "./relay/relay.ts";
import { contentLengthOf } from "./relay/upload.ts";
import { openUpstream, type UpstreamOptions, type UpstreamRequest } from "./relay/upstream.ts";
import { pathAt, targetUnder } from "./relay/upstream-path.ts";
import { Upstreams, type UpstreamsSettings } from "./upstreams.ts";

export interface GatewaySettings
  extends UpstreamsSettings, RelayLimits, Omit<UpstreamOptions, "baseUrl" | "connections"> {
  /** Limiter of open requests; excess requests are rejected. */
  readonly open: FairSemaphore;
}

export interface RelayedRequest extends Omit<RelayOptions, "upstreamRequest"> {
  /** Path and query; default: those of the request. */
  readonly path?: string;
  readonly body: UpstreamRequest["body"];
  /** Keeps the upstream from compressing its response. */
  readonly isPlain?: boolean;
}

/** Upstreams and their open relays. */
export class Gateway {
  readonly upstreams: Upstreams;
  readonly #slots: FairSemaphore;
  readonly #context: RelayContext;
  readonly #open = new Set<Relay>();
  #stopping = false;
  #grace: NodeJS.Timeout | undefined;

  constructor(settings: GatewaySettings, meter: RelayMetrics) {
    const { training, chat, anthropic, gemini, routes = [], open } = settings;
    this.#slots = open;
    this.#context = {
      limits: settings,
      meter,
      mask: secretMask([training, chat, anthropic, gemini, ...routes].flatMap(upstreamSecrets)),
      acquireSlot: (tenant) => (this.#stopping ? undefined : open.tryAcquire(tenant)),
    };
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
  async relay(request: FastifyRequest, reply: FastifyReply, options: RelayedRequest): Promise<void> {
    if (this.#stopping) {
      throw new AppError("service_overloaded", "The gateway is stopping.", { retryAfterSeconds: 1 });
    }
    const { target, body, path = pathAt(target, request.url), isPlain = false } = options;
    const headers = upstreamHeaders(request.headers, {
      credential: hasOwnCredentials(request) ? undefined : target.credential,
      requestId: request.id,
      contentLength: Buffer.isBuffer(body) ? body.length : contentLengthOf(request.raw),
    });
    if (isPlain) headers["accept-encoding"] = "identity";
    const { method } = request;
    const upstreamRequest = { method, path: targetUnder(target.upstream.base, path), headers, body };
    const relay = new Relay(request, reply, { ...options, upstreamRequest }, this.#context);
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
