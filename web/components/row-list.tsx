import { useEffect, useRef, type ReactNode, type ReactElement } from "react";
import { elementsFor } from "./row-elements.ts";
import { ROW_PX, useScroll, type RowKeys } from "./use-scroll.ts";
import { useVirtualRows } from "./use-virtual-rows.ts";

/** A keyboard event of React or of the document. */
export type KeyPress = Pick<
  KeyboardEvent,
  "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey" | "target" | "preventDefault"
>;

export interface RowAria {
  readonly level?: number;
  readonly expanded?: boolean | undefined;
}

/** Indexes of the first and the last row in the document. */
export interface SeenRows {
  readonly first: number;
  readonly last: number;
}

interface RowListProps {
  /** The prefix of all element ids. */
  readonly id: string;
  readonly role: "grid" | "treegrid";
  readonly label: string;
  /** Some values of the rows are still being loaded. */
  readonly busy?: boolean;
  readonly className: string;
  readonly header: ReactNode;
  readonly count: number;
  /** With those that have not been read yet; default: `count`. */
  readonly rowCount?: number;
  readonly active: number;
  /** Identifies rows across changes of the list; undefined if it never changes. */
  readonly keys?: RowKeys;
  /** Changes when a row is chosen, which then comes into sight. */
  readonly chosen?: unknown;
  readonly aria?: (index: number) => RowAria;
  readonly rowClass?: (index: number) => string;
  readonly row: (index: number) => ReactNode;
  readonly onSeen?: (seen: SeenRows) => void;
  readonly onActive: (index: number) => void;
  readonly onOpen: (index: number) => void;
  /** True: the key was handled. */
  readonly onKey?: (event: KeyPress) => boolean;
}

/** A list with only its visible rows in the document. Up and down move, Enter opens. */
export function RowList(props: RowListProps) {
  const { id, count, active, onActive, onOpen } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const { items, totalPx } = useVirtualRows(scroller, { count, rowPx: ROW_PX });
  useScroll(scroller, { active, keys: props.keys, chosen: props.chosen ?? active });
  const onKeyDown = (event: KeyPress): void => {
    const { target } = event;
    // keys work without the focus too, where nothing else has it
    if (
      (target !== scroller.current && target !== document.body) ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey
    )
      return;
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
  const handler = useRef(onKeyDown);
  handler.current = onKeyDown;
  useEffect(() => {
    if (document.activeElement === document.body) scroller.current?.focus({ preventScroll: true });
    const hear = (event: KeyboardEvent): void => {
      if (event.target === document.body) handler.current(event);
    };
    addEventListener("keydown", hear);
    return () => removeEventListener("keydown", hear);
  }, []);
  const lines = useLines(
    props,
    items.map(({ index }) => index),
  );
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? -1];
  const { onSeen } = props;
  useEffect(() => {
    onSeen?.({ first, last });
  }, [onSeen, first, last]);
  return (
    <div
      ref={scroller}
      className={`rows ${props.className}`}
      role={props.role}
      aria-label={props.label}
      aria-busy={props.busy ?? false}
      aria-rowcount={(props.rowCount ?? count) + 1}
      aria-activedescendant={active >= first && active <= last ? `${id}-${active}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div role="rowgroup" className="head">
        <div role="row" aria-rowindex={1} className="row">
          {props.header}
        </div>
      </div>
      <div role="rowgroup" className="body" style={{ height: `${totalPx}px` }}>
        {lines}
      </div>
    </div>
  );
}

interface DrawnLines {
  readonly of: RowListProps;
  /** The element of each row, from top to bottom. */
  readonly elements: ReadonlyMap<number, number>;
  readonly lines: ReadonlyMap<number, ReactElement>;
}

/** The rows of the document. While only the scroll position changes, rows that stay are the same elements, and not rendered again. */
function useLines(props: RowListProps, indexes: readonly number[]): readonly ReactElement[] {
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

function lineOf(props: RowListProps, index: number, element: number): ReactElement {
  const { id, active, aria, rowClass, row, onActive, onOpen } = props;
  const { level, expanded } = aria?.(index) ?? {};
  return (
    <div
      key={element}
      id={`${id}-${index}`}
      role="row"
      className={`row ${index === active ? "active" : ""} ${rowClass?.(index) ?? ""}`}
      style={{ transform: `translateY(${index * ROW_PX}px)` }}
      aria-rowindex={index + 2}
      aria-level={level}
      aria-expanded={expanded}
      aria-selected={index === active}
      onClick={(event) => {
        onActive(index);
        // a selection is for copying
        if (document.getSelection()?.isCollapsed === false) return;
        if (!(event.target as Element).closest("a, button")) onOpen(index);
      }}
    >
      {row(index)}
    </div>
  );
}
