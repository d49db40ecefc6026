import type { ComponentChildren } from "preact";
import type { Total } from "../format/usage.ts";
import { Unknown } from "./figure.tsx";

interface UsedOrProps {
  readonly total: Total | undefined;
  /** It is being loaded. */
  readonly isAdding: boolean;
  readonly show: (total: Total) => ComponentChildren;
}

/** What a call used, or that it is unknown, or not loaded yet. */
export function UsageOrPlaceholder({ total, isAdding, show }: UsedOrProps) {
  if (total !== undefined) return <>{show(total)}</>;
  return isAdding ? <span class="dim">…</span> : <Unknown why="what the calls used could not be read" />;
}
