import { useEffect, useState } from "react";

/** A dialog over all views. */
export type Opened = "finder" | "keys" | undefined;

/** Ctrl-K finds, `?` lists the keys. Returns what is open, and a way to open and close. */
export function useShortcuts(): readonly [Opened, (opened: Opened) => void] {
  const [opened, setOpened] = useState<Opened>(undefined);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isFinder = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
      const isHelp = event.key === "?" && !isTyping(event.target);
      if (!isFinder && !isHelp) return;
      event.preventDefault();
      setOpened(isFinder ? "finder" : "keys");
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return [opened, setOpened];
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, dialog") !== null;
}
