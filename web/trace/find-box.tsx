import { useMemo, type RefObject } from "react";
import type { CallTree } from "./tree/call-tree.ts";
import { matchesIn } from "./tree/find.ts";

interface FindBoxProps {
  readonly input: RefObject<HTMLInputElement | null>;
  readonly tree: CallTree;
  readonly find: string;
  readonly onFind: (text: string) => void;
  /** Goes to the next one. */
  readonly revealNext: (isWanted: (position: number) => boolean) => void;
}

/** Calls by name or id; Enter goes to the next. */
export function FindBox({ input, tree, find, onFind, revealNext }: FindBoxProps) {
  const matches = useMemo(() => matchesIn(tree, find), [tree, find]);
  return (
    <label className="find">
      <span className="unseen">Find a call by name or id</span>
      <input
        ref={input}
        type="search"
        placeholder="find  /"
        value={find}
        onChange={(event) => onFind(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") document.querySelector<HTMLElement>(".rows.tree")?.focus();
          if (event.key === "Enter") revealNext(matches.has);
        }}
      />
      <span className="dim" aria-live="polite">
        {find !== "" && (matches.count === 0 ? "none" : matches.count)}
      </span>
    </label>
  );
}
