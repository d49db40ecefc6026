import { createHash } from "node:crypto";

/** The name of a content: SHA-256 as base64url without padding, `-` and `_` as `X` and `Y`, which is how the Weave SDKs compute it. */
export function digestOf(content: string | Uint8Array): string {
  const digest = createHash("sha256").update(content).digest("base64url");
  return digest.replaceAll("-", "X").replaceAll("_", "Y");
}
