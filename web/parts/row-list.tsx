import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { elementsFor } from "./row-elements.ts";
import { ROW_PX, usePlace, type RowKeys } from "./use-place.ts";
import { useVirtualRows } from "./use-virtual-rows.ts";

export { ROW_PX } from "./use-place.ts";

export interface RowAria {
  readonly level?: number;
  readonly expanded?: boolean | undefined;
}

/** Places of the first and the last row that are in the document. */
export interface SeenRows {
  readonly first: number;
  readonly last: number;
}

interface RowListProps {
  /** Of all elements of this list. */
  readonly id: string;
  readonly role: "grid" | "treegrid";
  readonly label: string;
  /** Some of what the rows say is still on its way. */
  readonly busy?: boolean;
  readonly class: string;
  readonly header: ComponentChildren;
  readonly count: number;
  readonly active: number;
  /** What says of rows that come and go which are the same; undefined: none do. */
  readonly keys?: RowKeys;
  /** Another than before when somebody chose a row: it is brought into sight then. */
  readonly chosen?: unknown;
  readonly aria?: (index: number) => RowAria;
  readonly rowClass?: (index: number) => string;
  readonly row: (index: number) => ComponentChildren;
  /** What lies over all rows and is drawn anew with them. */
  readonly layer?: (visible: SeenRows & { readonly offsetPx: number }) => ComponentChildren;
  readonly onSeen?: (seen: SeenRows) => void;
  readonly onActive: (index: number) => void;
  readonly onOpen: (index: number) => void;
  /** True: the key is taken. */
  readonly onKey?: (event: KeyboardEvent) => boolean;
}

/** Rows of which only those that can be seen are in the document. Up and down walk them, Enter opens. */
export function RowList(props: RowListProps) {
  const { id, count, active, onActive, onOpen } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const { items, totalPx, offsetPx } = useVirtualRows(scroller, { count, rowPx: ROW_PX });
  usePlace(scroller, { active, keys: props.keys, chosen: props.chosen ?? active });
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== scroller.current || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / ROW_PX) - 2);
    const to = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: count - 1,
    }[event.key];
    if (to !== undefined) onActive(Math.max(0, Math.min(count - 1, to)));
    else if (event.key === "Enter" && active >= 0) onOpen(active);
    else if (props.onKey?.(event) !== true) return;
    event.preventDefault();
  };
  const lines = useLines(
    props,
    items.map(({ index }) => index),
  );
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? -1];
  const { onSeen } = props;
  useEffect(() => onSeen?.({ first, last }), [onSeen, first, last]);
  return (
    <div
      ref={scroller}
      class={`rows ${props.class}`}
      role={props.role}
      aria-label={props.label}
      aria-busy={props.busy ?? false}
      aria-rowcount={count + 1}
      aria-activedescendant={active >= first && active <= last ? `${id}-${active}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div role="rowgroup" class="head">
        <div role="row" aria-rowindex={1} class="row">
          {props.header}
        </div>
      </div>
      {props.layer?.({ first, last, offsetPx })}
      <div role="rowgroup" class="body" style={{ height: `${totalPx}px` }}>
        {lines}
      </div>
    </div>
  );
}

interface DrawnLines {
  readonly of: RowListProps;
  /** Which element shows a row, from top to bottom. */
  readonly elements: ReadonlyMap<number, number>;
  readonly lines: ReadonlyMap<number, VNode>;
}

/** The rows to be in the document. While only the place changes, those that were there are the same ones, and not drawn anew. */
function useLines(props: RowListProps, indexes: readonly number[]): readonly VNode[] {
  const drawn = useRef<DrawnLines>({ of: props, elements: new Map(), lines: new Map() });
  const { of, lines: known } = drawn.current;
  const elements = elementsFor(indexes, drawn.current.elements);
  const lines = new Map(
    indexes.map((index) => [
      index,
      (of === props ? known.get(index) : undefined) ?? lineOf(props, index, elements.get(index)!),
    ]),
  );
  drawn.current = { of: props, elements, lines };
  return [...lines.values()];
}

function lineOf(props: RowListProps, index: number, element: number): VNode {
  const { id, active, aria, rowClass, row, onActive, onOpen } = props;
  const { level, expanded } = aria?.(index) ?? {};
  return (
    <div
      key={element}
      id={`${id}-${index}`}
      role="row"
      class={`row ${index === active ? "active" : ""} ${rowClass?.(index) ?? ""}`}
      style={{ transform: `translateY(${index * ROW_PX}px)` }}
      aria-rowindex={index + 2}
      aria-level={level}
      aria-expanded={expanded}
      aria-selected={index === active}
      onClick={(event) => {
        onActive(index);
        // who has selected text wants to copy it
        if (document.getSelection()?.isCollapsed === false) return;
        if (!(event.target as Element).closest("a, button")) onOpen(index);
      }}
    >
      {row(index)}
    </div>
  );
}
