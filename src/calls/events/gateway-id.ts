import { randomUUID } from "node:crypto";

/** Prefix of the ids that the gateway assigns: UUIDs of version 8 (RFC 9562, custom). */
export const GATEWAY_ID_START = "73756d74-7265-8";

/** Builds the id of a call recorded by the gateway. `from`: text in UUID form. */
export function gatewayId(from: string = randomUUID()): string {
  return GATEWAY_ID_START + from.slice(GATEWAY_ID_START.length);
}

/** True if only the gateway may write this call. */
export function isGatewayId(id: string): boolean {
  return id.startsWith(GATEWAY_ID_START);
}
