import { handedKey } from "../state/address.ts";

const NAME = "sumtree-key";

/** The key of this tab; it goes with it. */
export function keptKey(): string | undefined {
  return sessionStorage.getItem(NAME) ?? undefined;
}

export function keepKey(key: string): void {
  sessionStorage.setItem(NAME, key);
}

export function forgetKey(): void {
  sessionStorage.removeItem(NAME);
}

/** Takes a key out of the address before anybody can see, keep or send it. */
export function takeHandedKey(): void {
  const handed = handedKey(location.hash);
  if (handed === undefined) return;
  keepKey(handed.key);
  history.replaceState(null, "", handed.hash);
}
