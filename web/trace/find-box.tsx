import type { RefObject } from "preact";
import { useMemo } from "preact/hooks";
import type { TreeNode } from "./tree.ts";
import { inOrder, nextOf } from "./walk.ts";

interface FindBoxProps {
  readonly input: RefObject<HTMLInputElement | null>;
  readonly roots: readonly TreeNode[];
  readonly from: string | undefined;
  readonly find: string;
  readonly onFind: (text: string) => void;
  readonly reveal: (id: string) => void;
}

/** Calls by name or id; Enter goes to the next. */
export function FindBox({ input, roots, from, find, onFind, reveal }: FindBoxProps) {
  const matches = useMemo(() => matcher(find), [find]);
  const count = useMemo(
    () => (find === "" ? 0 : inOrder(roots).filter(matches).toArray().length),
    [roots, matches],
  );
  return (
    <label class="find">
      <span class="unseen">Find a call by name or id</span>
      <input
        ref={input}
        type="search"
        placeholder="find  /"
        value={find}
        onInput={(event) => onFind(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") document.querySelector<HTMLElement>(".rows.tree")?.focus();
          if (event.key !== "Enter" || find === "") return;
          const next = nextOf(roots, from, matches);
          if (next !== undefined) reveal(next.call.id);
        }}
      />
      <span class="dim" aria-live="polite">
        {find !== "" && (count === 0 ? "none" : count)}
      </span>
    </label>
  );
}

function matcher(find: string): (node: TreeNode) => boolean {
  const wanted = find.toLowerCase();
  return ({ call }) => call.id === find || call.name.toLowerCase().includes(wanted);
}
