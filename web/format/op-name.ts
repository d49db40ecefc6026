import { oneLine } from "./plain-text.ts";

const SCHEME = "weave:///";

/** `weave:///acme/app/op/answer:v3` is called `answer`. */
export function nameOfOp(opName: string): string {
  const last = opName.slice(opName.lastIndexOf("/") + 1);
  return opName.startsWith(SCHEME) ? (last.split(":")[0] ?? last) : opName;
}

/** The name that is shown. */
export function shortName(opName: string, displayName: string | null): string {
  if (displayName !== null && displayName !== "") return oneLine(displayName);
  return opName === "" ? "(no name)" : oneLine(nameOfOp(opName));
}

/** Part of the address of each operation with a name; undefined if the name is an address. */
export function partOfAddress(name: string): string | undefined {
  return name.startsWith(SCHEME) ? undefined : `/op/${name}:`;
}

const ADDRESS = /^weave:\/\/\/([^\s"\\@]+)\/op\/([^\s"\\@/:]+:[^\s"\\@/:]+)$/;
const VERSION = /^([^\s"\\@/:]+:[^\s"\\@/:]+)@([^\s"\\@]+)$/;

/** `weave:///acme/app/op/answer:v3` is written `answer:v3@acme/app`. */
export function printOp(opName: string): string {
  return opName.replace(ADDRESS, "$2@$1");
}

export function readOp(text: string): string {
  return text.replace(VERSION, `${SCHEME}$2/op/$1`);
}
