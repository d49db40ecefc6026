import type { App } from "../../../src/app.ts";
import { authorization } from "../../helpers/start-app.ts";

interface Sent {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly url: string;
  /** An object goes as JSON, bytes are protobuf. */
  readonly body?: object | Buffer;
}

interface Answered {
  readonly status: number;
  readonly bytes: Buffer;
  /** True if it failed at first: the work may have been done before. */
  readonly isRepeated?: boolean;
}

/** A replica of the service, in this process or in one of its own. */
export type Replica = (sent: Sent) => Promise<Answered>;

export function replicaOf(app: App): Replica {
  return async ({ method, url, body }) => {
    const { headers, payload } = encoded(body);
    const response = await app.inject({ method, url, headers, ...(payload !== undefined && { payload }) });
    return { status: response.statusCode, bytes: response.rawPayload };
  };
}

/** `base`: where it listens. */
export function replicaAt(base: string): Replica {
  return async ({ method, url, body }) => {
    const { headers, payload } = encoded(body);
    const response = await fetch(base + url, {
      method,
      headers,
      ...(payload !== undefined && { body: new Uint8Array(payload) }),
    });
    return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
  };
}

function encoded(body: Sent["body"]): { headers: Record<string, string>; payload: Buffer | undefined } {
  const headers = { authorization: authorization() };
  if (body === undefined) return { headers, payload: undefined };
  if (Buffer.isBuffer(body))
    return { headers: { ...headers, "content-type": "application/x-protobuf" }, payload: body };
  const payload = Buffer.from(JSON.stringify(body));
  return { headers: { ...headers, "content-type": "application/json" }, payload };
}
