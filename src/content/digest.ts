import { createHash } from "node:crypto";

/** Computes a digest as the Weave SDKs do: SHA-256 as base64url without padding, `-` and `_` as `X` and `Y`. */
export function digestOf(content: string | Uint8Array): string {
  const digest = createHash("sha256").update(content).digest("base64url");
  return digest.replaceAll("-", "X").replaceAll("_", "Y");
}
