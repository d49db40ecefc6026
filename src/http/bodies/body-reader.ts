import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from "fastify";
import { AppError } from "../../shared/errors.ts";
import { whenClosed } from "../when-closed.ts";
import type { FairSemaphore, Permit } from "../../fairness/fair-semaphore.ts";
import { tenantOf } from "../auth/tenant-of.ts";
import { isLarge, toLargeBody, type LargeBody } from "./large-body.ts";
import { expandedTooMuch, maxDecompressedBytes } from "./decompression-limit.ts";
import { valueCounter } from "./value-counter.ts";

/** Maximum of values and keys in a JSON body parsed by the ingest worker. */
const MAX_JSON_VALUES = 8_000_000;

declare module "fastify" {
  interface FastifyInstance {
    bodies: Bodies;
  }
  interface FastifyRequest {
    /** Permit for the body's bytes in flight; null before the first byte. */
    bodyBytes: Permit | null;
  }
}

/** Reader of bodies, decompressed; received bytes count towards the limits. */
export interface Bodies {
  /** Reads a body. Errors: payload_too_large; service_overloaded; bad_request if it is incomplete. */
  read(request: FastifyRequest, payload: RequestPayload): Promise<Buffer | LargeBody>;
  /** Reads a JSON body; its values and keys count too. Errors: those of `read`. */
  readJson(request: FastifyRequest, payload: RequestPayload): Promise<Buffer | LargeBody>;
  /** Watches a body that other code reads. Rejects with the errors of `read`; never resolves. */
  failure(request: FastifyRequest): Promise<never>;
  /** Counts bytes of a body that other code buffers until the response. Errors: service_overloaded. */
  hold(request: FastifyRequest, bytes: number): void;
}

/** Maximum of JSON values and keys to parse on the event loop, by body size. A number in a list has about 12 bytes. */
function maxOnEventLoop(bytes: number, bodyLimit: number): number {
  return Math.ceil(Math.min(MAX_JSON_VALUES / 8, bodyLimit / 10, 50_000 + bytes / 8));
}

/** Adds `app.bodies`. `inFlight`: limiter of received, decompressed bytes of unanswered requests. Register it before parsers. */
export function registerBodies(app: FastifyInstance, inFlight: FairSemaphore): void {
  app.decorateRequest("bodyBytes", null);
  app.addHook("preParsing", (request: FastifyRequest, reply: FastifyReply, _payload, done) => {
    whenClosed(reply.raw, () => request.bodyBytes?.release());
    done();
  });
  const hold = (request: FastifyRequest, bytes: number): void => {
    if (request.bodyBytes !== null) {
      if (!request.bodyBytes.more(bytes)) throw tooManyInFlight();
      return;
    }
    const held = inFlight.tryAcquire(tenantOf(request), bytes);
    if (held === undefined) throw tooManyInFlight();
    request.bodyBytes = held;
  };
  const counter = (request: FastifyRequest, payload: RequestPayload | IncomingMessage): Check => {
    const checkBytes = byteCounter(request, payload);
    return (chunk) => {
      checkBytes(chunk);
      hold(request, chunk.length);
    };
  };
  app.decorate("bodies", {
    read: (request, payload) => readWhole(request, payload, { check: counter(request, payload) }),
    readJson: (request, payload) => {
      const count = counter(request, payload);
      const { bodyLimit, config } = request.routeOptions;
      const most = (bytes: number): number =>
        config.largeBodies === true ? MAX_JSON_VALUES : maxOnEventLoop(bytes, bodyLimit);
      const values = valueCounter(payload, { isCompressed: isCompressed(request), most });
      const check = (chunk: Buffer): void => {
        count(chunk);
        values.add(chunk);
      };
      return readWhole(request, payload, { check, values: () => values.count() });
    },
    failure: (request) => failureOf(request, counter(request, request.raw)),
    hold,
  } satisfies Bodies);
}

function isCompressed({ headers }: FastifyRequest): boolean {
  return (headers["content-encoding"] ?? "identity") !== "identity";
}

/** Check of each chunk of a body. Errors: payload_too_large; service_overloaded. */
type Check = (chunk: Buffer) => void;

function byteCounter(request: FastifyRequest, payload: RequestPayload | IncomingMessage): Check {
  const { bodyLimit } = request.routeOptions;
  const compressed = isCompressed(request);
  let bytes = 0;
  return (chunk) => {
    bytes += chunk.length;
    if (bytes > bodyLimit) throw tooLarge(bodyLimit);
    if (compressed && bytes > maxDecompressedBytes(sentOf(payload))) throw expandedTooMuch();
  };
}

/** Returns the received bytes of a body before decompression. */
function sentOf(payload: RequestPayload | IncomingMessage): number {
  return "receivedEncodedLength" in payload ? (payload.receivedEncodedLength ?? 0) : 0;
}

interface Reading {
  readonly check: Check;
  /** JSON values and keys received. */
  readonly values?: () => number;
}

function readWhole(
  request: FastifyRequest,
  payload: RequestPayload,
  { check, values = () => 0 }: Reading,
): Promise<Buffer | LargeBody> {
  const declared = Number(request.headers["content-length"]);
  const { bodyLimit } = request.routeOptions;
  if (declared > bodyLimit) return Promise.reject(tooLarge(bodyLimit));
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | LargeBody>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  const end = (finish: () => void): void => {
    payload.off("data", onData).off("end", onEnd).off("error", onError).off("close", onClose);
    finish();
  };
  const fail = (error: Error): void => end(() => reject(error));
  const onData = (chunk: Buffer | string): void => {
    const some = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    try {
      check(some);
      chunks.push(some);
      bytes += some.length;
    } catch (error) {
      fail(error as Error);
    }
  };
  const onEnd = (): void => {
    const sent = payload.receivedEncodedLength || bytes;
    if (!Number.isNaN(declared) && sent !== declared) fail(incomplete());
    else
      end(() =>
        resolve(
          isLarge(request, bytes, values()) ? toLargeBody(chunks, bytes) : Buffer.concat(chunks, bytes),
        ),
      );
  };
  const onError = (cause: Error): void => fail("statusCode" in cause ? cause : incomplete(cause));
  const onClose = (): void => fail(incomplete());
  // a late error has no other listener
  payload.on("error", () => undefined);
  payload.on("data", onData).on("end", onEnd).on("error", onError).on("close", onClose);
  payload.resume();
  return promise;
}

function failureOf(request: FastifyRequest, check: Check): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => undefined);
  const onData = (chunk: Buffer): void => {
    try {
      check(chunk);
    } catch (error) {
      request.raw.off("data", onData);
      reject(error);
    }
  };
  request.raw.on("data", onData);
  return promise;
}

function tooLarge(limitBytes: number): AppError {
  return new AppError(
    "payload_too_large",
    `The body is larger than the limit of this route, ${limitBytes} bytes decompressed.`,
  );
}

function incomplete(cause?: Error): AppError {
  return new AppError("bad_request", "Body length differs from Content-Length.", { cause });
}

function tooManyInFlight(): AppError {
  return new AppError("service_overloaded", "Too many body bytes in flight. Retry later.", {
    retryAfterSeconds: 2,
  });
}
