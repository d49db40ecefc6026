import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "../../shared/errors.ts";
import { decompressBody } from "../decompress-body.ts";
import { encodingsOf } from "../recording/response-decoder.ts";
import type { Downstream } from "./downstream.ts";
import { headersOfChanged, isJson } from "./headers.ts";
import type { Head, OnComplete, RelayedResponse } from "./response.ts";
import { errorOf } from "./upstream-failure.ts";

/** Rewrite of whole successful responses. */
export interface ResponseRewrite {
  /** Responses of other media types pass unread. */
  readonly onlyJson: boolean;
  /** Returns the same buffer if nothing changes. Errors: what the client gets instead of the response. */
  run(body: Buffer): Promise<Buffer>;
}

/** True for the responses that a rewrite reads. */
export function isRewritten(
  { onlyJson }: ResponseRewrite,
  status: number,
  { "content-type": type }: IncomingHttpHeaders,
): boolean {
  return status >= 200 && status <= 299 && (!onlyJson || isJson(type));
}

const MAX_BYTES = 16 * 1024 * 1024;

/** Holds a response until it is complete and rewritten. */
export function heldResponse(
  down: Downstream,
  { status, headers }: Head,
  options: {
    readonly rewrite: ResponseRewrite;
    /** Accounts for held bytes. Throws service_overloaded. */
    readonly hold: (bytes: number) => void;
    /** Called before the response is sent. */
    readonly onSend: () => void;
    /** Called with the reason if it is not sent. */
    readonly onError: (reason: Error) => void;
    readonly onComplete: OnComplete;
  },
): RelayedResponse {
  const parts: Buffer[] = [];
  let bytes = 0;
  let isOver = false;
  const reject = (reason: Error): void => {
    if (!isOver) options.onError(reason);
    isOver = true;
    parts.length = 0;
  };
  const send = (sent: Buffer, rewritten: Buffer | undefined): void => {
    if (isOver || down.hasLeft) return;
    isOver = true;
    const body = rewritten ?? sent;
    options.onSend();
    void options.onComplete();
    const kept = rewritten === undefined ? headers : headersOfChanged(headers);
    down.head(status, { ...kept, "content-length": String(body.length) });
    down.end(body);
  };
  const rewrite = async (sent: Buffer): Promise<void> => {
    const plain = decompressBody(encodingsOf(String(headers["content-encoding"] ?? "")), sent, MAX_BYTES);
    if (plain === undefined) throw tooLarge();
    const rewritten = await options.rewrite.run(plain);
    send(sent, rewritten === plain ? undefined : rewritten);
  };
  return {
    data(chunk) {
      if (isOver) return;
      try {
        options.hold(chunk.length);
      } catch (cause) {
        return reject(cause as Error);
      }
      parts.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_BYTES) reject(tooLarge());
    },
    end() {
      if (!isOver) rewrite(Buffer.concat(parts)).catch(reject);
      return undefined;
    },
    fail: (failure) => reject(errorOf(failure)),
    delivered: false,
    close: () => undefined,
  };
}

function tooLarge(): AppError {
  return new AppError(
    "upstream_invalid",
    `The upstream's response cannot be read within ${MAX_BYTES} bytes.`,
  );
}
