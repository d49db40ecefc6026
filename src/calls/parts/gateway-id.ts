import { randomUUID } from "node:crypto";

/** How all ids begin that the gateway gives: a UUID of version 8, which no other maker of ids begins like this. */
export const GATEWAY_ID_START = "73756d74-7265-8";

/** The id of a call that the gateway records. `from`: a UUID, or what is written like one. */
export function gatewayId(from: string = randomUUID()): string {
  return GATEWAY_ID_START + from.slice(GATEWAY_ID_START.length);
}

/** Whether the gateway alone says what this call is, in whatever order and through whatever process. */
export function isGatewayId(id: string): boolean {
  return id.startsWith(GATEWAY_ID_START);
}
