import { oneLine } from "./plain-text.ts";

/** `weave:///acme/app/op/answer:v3` is shown as `answer`. */
export function shortName(opName: string, displayName: string | null): string {
  if (displayName !== null && displayName !== "") return oneLine(displayName);
  if (opName === "") return "(no name)";
  const last = opName.startsWith("weave:///") ? opName.slice(opName.lastIndexOf("/") + 1) : opName;
  return oneLine(opName.startsWith("weave:///") ? (last.split(":")[0] ?? last) : last);
}
