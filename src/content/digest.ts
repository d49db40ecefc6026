import { createHash } from "node:crypto";

/** A content's digest as the Weave SDKs compute it: SHA-256 as base64url without padding, `-` and `_` as `X` and `Y`. */
export function digestOf(content: string | Uint8Array): string {
  const digest = createHash("sha256").update(content).digest("base64url");
  return digest.replaceAll("-", "X").replaceAll("_", "Y");
}
