import { handedKey } from "../state/address.ts";

const NAME = "sumtree-key";

/** The key of this tab. Closing the tab forgets it. */
export function keptKey(): string | undefined {
  return sessionStorage.getItem(NAME) ?? undefined;
}

export function keepKey(key: string): void {
  sessionStorage.setItem(NAME, key);
}

export function forgetKey(): void {
  sessionStorage.removeItem(NAME);
}

/** Removes a key from the address before it can be seen, stored or sent. */
export function takeHandedKey(): void {
  const handed = handedKey(location.hash);
  if (handed === undefined) return;
  keepKey(handed.key);
  history.replaceState(null, "", handed.hash);
}
