import { useCallback, useEffect, useState } from "react";

export interface Shortcuts {
  readonly isFinding: boolean;
  readonly isHelping: boolean;
  readonly find: () => void;
  readonly help: () => void;
  readonly close: () => void;
}

/** Ctrl-K finds, `?` lists the keys. */
export function useShortcuts(): Shortcuts {
  const [open, setOpen] = useState<"finder" | "help" | undefined>(undefined);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isFinder = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
      const isHelp = event.key === "?" && !isTyping(event.target);
      if (!isFinder && !isHelp) return;
      event.preventDefault();
      setOpen(isFinder ? "finder" : "help");
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return {
    isFinding: open === "finder",
    isHelping: open === "help",
    find: useCallback(() => setOpen("finder"), []),
    help: useCallback(() => setOpen("help"), []),
    close: useCallback(() => setOpen(undefined), []),
  };
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, dialog") !== null;
}
