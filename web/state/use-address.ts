import { useCallback, useEffect, useState } from "react";
import { printAddress, readAddress, type HrefTo, type UrlState } from "./url-state.ts";

export type Go = (change: Partial<UrlState>, how?: "replace") => void;

/** The address as it is, and a way to change it. */
export function useAddress(): readonly [UrlState, Go] {
  const [address, setAddress] = useState(() => readAddress(location.hash));
  useEffect(() => {
    const follow = (): void => setAddress(readAddress(location.hash));
    addEventListener("hashchange", follow);
    addEventListener("popstate", follow);
    return () => {
      removeEventListener("hashchange", follow);
      removeEventListener("popstate", follow);
    };
  }, []);
  const go = useCallback<Go>((change, how) => {
    const next = { ...readAddress(location.hash), ...change };
    const hash = printAddress(next);
    if (hash === location.hash) return;
    history[how === "replace" ? "replaceState" : "pushState"](null, "", hash);
    setAddress(next);
  }, []);
  return [address, go];
}

/** Links to views that keep all other options. */
export function useHrefTo(address: UrlState): HrefTo {
  return useCallback(
    (view, more) => printAddress({ ...address, view, options: { ...address.options, ...more } }),
    [address],
  );
}
