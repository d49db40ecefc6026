import type { Door } from "./door.ts";
import { CHAT, DOORS } from "./doors.ts";

/*
 * Which door of an upstream a path leads to, as the most lenient server may read it: servers differ in what they decode,
 * join, cut off and ignore before they look for a route.
 */

/** Whether some server could take a path for the door of chat completions, or one of its kind below another path. */
export function isChatDoor(url: string): boolean {
  const path = fullyRead(url);
  const at = path.search(CHAT_SEGMENT);
  return at !== -1 && COMPLETIONS.test(path.slice(at));
}

/** Whether no server could end the path before its `/chat`, and so take it for something else. */
export function leadsToChat(url: string): boolean {
  const path = fullyRead(url);
  return !/[;?#\0-\x20]/.test(path.slice(0, path.search(CHAT_SEGMENT)));
}

/**
 * The door that some server could take a path for; undefined if it is that of no one, or one that leads to what belongs to
 * an account. Chat may lie below any other path, the others below the name of a deployment alone.
 */
export function doorAt(url: string): Door | undefined {
  if (isChatDoor(url)) return CHAT;
  const path = fullyRead(url)
    .replaceAll(/\/\s*/g, "/")
    .replaceAll(/\/{2,}/g, "/")
    .replace(/^\/v1(?=\/)/, "");
  const bare = path
    .replace(/^\/(?:openai\/)?(?:deployments|engines)\/[^/]+(?=\/)/, "")
    .replace(/[/;.?#\0-\x20]+$/, "");
  const named = bare.replaceAll(/[;.][^/]*/g, "");
  return DOORS.find((door) => door.path === named);
}

/** A path as routes are chosen by it: decoded, in lower case, without a query and a final slash. */
export function plainPath(url: string): string {
  return fullyRead(url)
    .replaceAll(/\/{2,}/g, "/")
    .replace(/(?<=.)\/$/, "");
}

/** Whether the errors of a path are those of Anthropic's API. */
export function isOfAnthropic(url: string): boolean {
  return /^(?:\/+v1)?\/+messages(?:$|[/;.?#\0-\x20])/.test(fullyRead(url));
}

/** Whether some server could take a path for one of `/v1/preview`. */
export function isPreview(url: string): boolean {
  return PREVIEW.test(fullyRead(url));
}

/** Whether some server could take a path for one of the training service: what is not is asked of a model service. */
export function isOfTraining(url: string): boolean {
  return OF_TRAINING.test(fullyRead(url));
}

/** Whether some server could take a path for one that reads or changes what belongs to the account of the key. */
export function isOfAccount(path: string): boolean {
  return fullyRead(path)
    .split(/[^\w-]+/)
    .some((word) => OF_ACCOUNT.has(word));
}

const OF_ACCOUNT: ReadonlySet<string> = new Set([
  "admin",
  "admin_api_keys",
  "api_keys",
  "assistants",
  "batches",
  "certificates",
  "containers",
  "conversations",
  "evals",
  "files",
  "fine-tunes",
  "fine_tuning",
  "invites",
  "models",
  "organization",
  "organizations",
  "projects",
  "skills",
  "threads",
  "uploads",
  "users",
  "vector_stores",
  "webhooks",
  "workspaces",
]);

// A segment may have white space before its name, and after it parameters, an extension, or what ends the path early.
const CHAT_SEGMENT = /\/\s*chat(?=[/;.?#\0-\x20])/;
const COMPLETIONS = /\/\s*completions(?=\/*(?:$|[;.?#\0-\x20]))/;
const PREVIEW = /\/\s*preview(?:$|[/;.?#\0-\x20])/;
const OF_TRAINING = /\/\s*(?:preview|training)(?:$|[/;.?#\0-\x20])/;
const MAX_DECODINGS = 3;

function fullyRead(url: string): string {
  let path = url.split("?", 1)[0]!;
  for (let times = 0; times < MAX_DECODINGS; times++) {
    path = path.replaceAll(/%([\da-f]{2})/gi, (_escape, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
  const text = Buffer.from(path, "latin1").toString("utf8");
  return text.normalize("NFKC").toLowerCase().replaceAll("\\", "/");
}
