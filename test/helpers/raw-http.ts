import { connect, type Socket } from "node:net";

export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body as sent, without its transfer coding. */
  readonly body: Buffer;
  /** Whether the answer came to its regular end, as its own framing tells. */
  readonly complete: boolean;
}

export interface RawExchange {
  readonly socket: Socket;
  /** Bytes received so far. */
  readonly received: () => Buffer;
  /** Resolves when the answer is complete or the connection is over. */
  readonly answer: Promise<RawResponse>;
}

/** Sends exactly these bytes, and reads the answer without an HTTP library in between. */
export function sendRaw(port: number, ...parts: readonly (string | Uint8Array)[]): RawExchange {
  const socket = connect({ port, host: "127.0.0.1" });
  let bytes: Buffer = Buffer.alloc(0);
  const response = new Promise<RawResponse>((resolve) => {
    const look = (over: boolean): void => {
      const read = readResponse(bytes);
      if (read !== undefined && (read.complete || over)) {
        resolve(read);
        socket.destroy();
      } else if (over) {
        resolve({ status: 0, headers: {}, body: bytes, complete: false });
      }
    };
    socket.on("data", (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      look(false);
    });
    socket.on("error", () => undefined);
    socket.once("close", () => look(true));
  });
  for (const part of parts) socket.write(part);
  return { socket, received: () => bytes, answer: response };
}

/** The head of a request, with the lines given and an empty line at its end. */
export function head(...lines: readonly string[]): string {
  return `${lines.join("\r\n")}\r\n\r\n`;
}

function readResponse(bytes: Buffer): RawResponse | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const [first = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const status = Number(first.split(" ")[1]);
  const rest = bytes.subarray(end + 4);
  if (status === 100) return readResponse(rest);
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  if (headers["transfer-encoding"] === "chunked") return { status, headers, ...dechunk(rest) };
  const length = Number(headers["content-length"] ?? 0);
  return { status, headers, body: rest.subarray(0, length), complete: rest.length >= length };
}

function dechunk(bytes: Buffer): { body: Buffer; complete: boolean } {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const line = bytes.indexOf("\r\n", at);
    const size = line === -1 ? Number.NaN : Number.parseInt(bytes.toString("latin1", at, line), 16);
    if (Number.isNaN(size)) return { body: Buffer.concat(chunks), complete: false };
    const chunk = bytes.subarray(line + 2, line + 2 + size);
    if (chunk.length > 0) chunks.push(chunk);
    if (size === 0) return { body: Buffer.concat(chunks), complete: true };
    at = line + 2 + size + 2;
  }
}
