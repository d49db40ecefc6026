import type { ReactNode } from "react";
import type { Total } from "../format/usage.ts";
import { Unknown } from "./figure.tsx";

interface UsedOrProps {
  readonly total: Total | undefined;
  /** It is being loaded. */
  readonly isAdding: boolean;
  readonly show: (total: Total) => ReactNode;
}

/** Usage of a call, or a placeholder if it is unknown or not loaded. */
export function UsageOrPlaceholder({ total, isAdding, show }: UsedOrProps) {
  if (total !== undefined) return <>{show(total)}</>;
  return isAdding ? <span className="dim">…</span> : <Unknown why="what the calls used could not be read" />;
}
