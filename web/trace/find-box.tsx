import { useMemo, type RefObject } from "react";
import type { CallTree } from "./tree/call-tree.ts";
import { matchesIn } from "./tree/find.ts";
import { NOT_FOUND } from "./tree/text-index.ts";
import { nextOf } from "./tree/walk.ts";

interface FindBoxProps {
  readonly input: RefObject<HTMLInputElement | null>;
  readonly tree: CallTree;
  /** Position to continue from. */
  readonly from: number;
  readonly find: string;
  readonly onFind: (text: string) => void;
  readonly reveal: (position: number) => void;
}

/** Calls by name or id; Enter goes to the next. */
export function FindBox({ input, tree, from, find, onFind, reveal }: FindBoxProps) {
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
          if (event.key !== "Enter") return;
          const next = nextOf(tree, from, matches.has);
          if (next !== NOT_FOUND) reveal(next);
        }}
      />
      <span className="dim" aria-live="polite">
        {find !== "" && (matches.count === 0 ? "none" : matches.count)}
      </span>
    </label>
  );
}
