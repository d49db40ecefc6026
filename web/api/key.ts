import { visible } from "../format/plain-text.ts";
import { handedKey } from "../state/url-state.ts";

/** Storage name for this UI: another one on the same origin, below another path, has keys of its own. Workers have no document, and no key. */
const NAME = `sumtree-key ${new URL(".", globalThis.document?.baseURI ?? location.href).pathname}`;
const ANSWER_MS = 200;

type Message =
  | { readonly kind: "who-has-a-key" }
  | { readonly kind: "key"; readonly key: string }
  | { readonly kind: "signed-out" };

/** The tabs of this page in this browser. What is said there reaches no other origin and is kept nowhere. */
const tabs = new BroadcastChannel(NAME);

/** Hands the key to new tabs of this page. */
export function answerOtherTabs(): void {
  tabs.addEventListener("message", ({ data }: MessageEvent<Message>) => {
    const key = storedKey();
    if (data.kind === "who-has-a-key" && key !== undefined)
      tabs.postMessage({ kind: "key", key } satisfies Message);
  });
}

/** The key of this tab, or of this device if somebody wished so. */
export function storedKey(): string | undefined {
  return sessionStorage.getItem(NAME) ?? localStorage.getItem(NAME) ?? undefined;
}

/** The key that another tab of this page has; undefined: there is none. */
export function keyOfOtherTabs(): Promise<string | undefined> {
  return new Promise((resolve) => {
    const hear = ({ data }: MessageEvent<Message>): void => {
      if (data.kind === "key") done(data.key);
    };
    const timer = setTimeout(() => done(undefined), ANSWER_MS);
    const done = (key: string | undefined): void => {
      clearTimeout(timer);
      tabs.removeEventListener("message", hear);
      resolve(key);
    };
    tabs.addEventListener("message", hear);
    tabs.postMessage({ kind: "who-has-a-key" } satisfies Message);
  });
}

/** Keeps a key for the session. `onDevice`: beyond it, or not; undefined leaves what is kept on the device. */
export function storeKey(key: string, onDevice?: boolean): void {
  sessionStorage.setItem(NAME, key);
  if (onDevice === true) localStorage.setItem(NAME, key);
  if (onDevice === false) localStorage.removeItem(NAME);
}

export function isKeptOnDevice(): boolean {
  return localStorage.getItem(NAME) !== null;
}

/** In this tab and in all others of this page. */
export function forgetKey(): void {
  sessionStorage.removeItem(NAME);
  localStorage.removeItem(NAME);
  tabs.postMessage({ kind: "signed-out" } satisfies Message);
}

/** Calls back when another tab signs out. Returns how to stop. */
export function onSignedOut(left: () => void): () => void {
  const hear = ({ data }: MessageEvent<Message>): void => {
    if (data.kind !== "signed-out") return;
    sessionStorage.removeItem(NAME);
    left();
  };
  tabs.addEventListener("message", hear);
  return () => tabs.removeEventListener("message", hear);
}

/** A link that signs in and goes to an address. */
export function signInLink(key: string, address: string): string {
  return `${new URL(".", document.baseURI).href}#key=${key}&to=${encodeURIComponent(address.slice(1))}`;
}

/** Says why a text cannot be a key; undefined: it can. */
export function faultOfKey(text: string): string | undefined {
  const wrong = /[^\x21-\x7E]/u.exec(text)?.[0];
  if (wrong === undefined) return undefined;
  const named = wrong === " " ? "A space" : `“${visible(wrong)}”`;
  return `${named} cannot be part of a key. Was something else copied?`;
}

/** Removes a key from the address before it can be seen, stored or sent. One that would replace another, or cannot be a key, is returned. */
export function takeHandedKey(): string | undefined {
  const handed = handedKey(location.hash);
  if (handed === undefined) return undefined;
  history.replaceState(null, "", handed.hash);
  const key = handed.key.trim();
  const kept = storedKey();
  if (kept === key) return undefined;
  if (kept !== undefined || faultOfKey(key) !== undefined) return key;
  storeKey(key);
  return undefined;
}
