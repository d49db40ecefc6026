export type Scheme = "basic" | "bearer";

/** A key in the Authorization header. */
export interface Credentials {
  readonly scheme: Scheme;
  readonly key: string;
}

/**
 * Reads `Authorization`. Basic: any user name, the key as password (or, as some HTTP tools send it, the key as user name
 * and an empty password). Errors: undefined for anything else.
 * Source: RFC 7617, RFC 6750.
 */
export function parseAuthorization(header: string | undefined): Credentials | undefined {
  const [, scheme, token] = /^(basic|bearer) +(\S+) *$/i.exec(header ?? "") ?? [];
  if (scheme === undefined || token === undefined) return undefined;
  if (scheme.toLowerCase() === "bearer") return { scheme: "bearer", key: token };
  const decoded = Buffer.from(token, "base64").toString("utf8");
  const colon = decoded.indexOf(":");
  if (colon === -1) return undefined;
  const password = decoded.slice(colon + 1);
  return { scheme: "basic", key: password === "" ? decoded.slice(0, colon) : password };
}
