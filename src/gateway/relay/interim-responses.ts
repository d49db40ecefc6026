import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";

/*
 * undici skips interim responses (1xx), except that an unrequested 100 Continue breaks the connection. Servers send them
 * (RFC 9110, 15.2: a client must parse them), so a 100 is rewritten to 102 before undici reads it. Channel and message:
 * https://undici.nodejs.org/api/DiagnosticsChannel
 */

const heads = new WeakMap<Socket, ResponseHead>();

subscribe("undici:client:sendHeaders", (message) => {
  const { socket } = message as { readonly socket: Socket };
  let head = heads.get(socket);
  if (head === undefined) {
    head = new ResponseHead();
    heads.set(socket, head);
    readThrough(socket, head);
  }
  head.begin();
});

function readThrough(socket: Socket, head: ResponseHead): void {
  const push = socket.push.bind(socket);
  socket.push = (chunk: Buffer | null, encoding) => {
    if (chunk !== null) head.read(chunk);
    return push(chunk, encoding);
  };
}

const CR = 0x0d;
const LF = 0x0a;
const ZERO = 0x30;
const ONE = 0x31;
const TWO = 0x32;
/** Offset of the status in `HTTP/1.1 100`. */
const STATUS_AT = 9;

/** Parser of interim responses and of the first bytes of the final one. */
class ResponseHead {
  #isExpected = false;
  /** Bytes read of these headers and of the current line. */
  #bytes = 0;
  #lineBytes = 0;
  #isContinue = true;

  begin(): void {
    this.#isExpected = true;
    this.#next();
  }

  /** Scans a chunk; overwrites the last digit of a 100 with 2. */
  read(chunk: Buffer): void {
    for (let at = 0; this.#isExpected && at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (byte === LF) this.#endLine();
      else if (byte !== CR) {
        if (this.#reads(byte)) chunk[at] = TWO;
        this.#bytes++;
        this.#lineBytes++;
      }
    }
  }

  /** True at the last digit of a 100. */
  #reads(byte: number): boolean {
    const digit = this.#bytes - STATUS_AT;
    if (digit === 0) this.#isExpected = byte === ONE;
    if (digit === 1 || digit === 2) this.#isContinue &&= byte === ZERO;
    return digit === 2 && this.#isContinue;
  }

  #endLine(): void {
    if (this.#bytes > 0 && this.#lineBytes === 0) this.#next();
    this.#lineBytes = 0;
  }

  #next(): void {
    this.#bytes = 0;
    this.#lineBytes = 0;
    this.#isContinue = true;
  }
}
