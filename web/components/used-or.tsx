import type { ComponentChildren } from "preact";
import type { Total } from "../format/usage.ts";
import { Unknown } from "./figure.tsx";

interface UsedOrProps {
  readonly total: Total | undefined;
  /** It is being loaded. */
  readonly isAdding: boolean;
  readonly show: (total: Total) => ComponentChildren;
}

/** Usage of a call, or a placeholder if it is unknown or not loaded. */
export function UsageOrPlaceholder({ total, isAdding, show }: UsedOrProps) {
  if (total !== undefined) return <>{show(total)}</>;
  return isAdding ? <span class="dim">…</span> : <Unknown why="what the calls used could not be read" />;
}
