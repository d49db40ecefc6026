import { useCallback, useMemo, useSyncExternalStore } from "react";
import { printAddress, readAddress, type HrefTo, type UrlState } from "./url-state.ts";

export type Go = (change: Partial<UrlState>, how?: "replace") => void;

/** Props of each view of a project. */
export interface ViewProps {
  readonly address: UrlState;
  readonly project: string;
  readonly zone: string;
  readonly go: Go;
}

/** The address as it is, and a way to change it. */
export function useAddress(): readonly [UrlState, Go] {
  const hash = useSyncExternalStore(onHash, () => location.hash);
  return [useMemo(() => readAddress(hash), [hash]), go];
}

function onHash(changed: () => void): () => void {
  addEventListener("hashchange", changed);
  addEventListener("popstate", changed);
  return () => {
    removeEventListener("hashchange", changed);
    removeEventListener("popstate", changed);
  };
}

const go: Go = (change, how) => {
  const hash = printAddress({ ...readAddress(location.hash), ...change });
  if (hash === location.hash) return;
  history[how === "replace" ? "replaceState" : "pushState"](null, "", hash);
  dispatchEvent(new PopStateEvent("popstate"));
};

/** Links to views that keep all other options. */
export function useHrefTo(address: UrlState): HrefTo {
  return useCallback(
    (view, more) => printAddress({ ...address, view, options: { ...address.options, ...more } }),
    [address],
  );
}
