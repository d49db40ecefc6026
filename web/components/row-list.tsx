import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useEffect, useRef, type ReactNode } from "react";
import { ROW_PX, useScroll, type RowKeys } from "./use-scroll.ts";

/** A keyboard event of React or of the document. */
export type KeyPress = Pick<
  KeyboardEvent,
  "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey" | "target" | "preventDefault"
>;

export interface RowListProps {
  /** The prefix of all element ids. */
  readonly id: string;
  readonly role: "grid" | "treegrid";
  readonly label: string;
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
  readonly aria?: (index: number) => { readonly level: number; readonly expanded: boolean | undefined };
  readonly rowClass?: (index: number) => string;
  readonly row: (index: number) => ReactNode;
  /** Called with the last row in the document. */
  readonly onSeen?: (last: number) => void;
  readonly onActive: (index: number) => void;
  readonly onOpen: (index: number) => void;
  /** True: the key was handled. */
  readonly onKey?: (event: KeyPress) => boolean;
}

/** A list with only its visible rows in the document. Up and down move, Enter opens. */
export function RowList(props: RowListProps) {
  const { id, count, active, onActive, onOpen } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 4,
  });
  const items = virtualizer.getVirtualItems();
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
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? -1];
  const { onSeen } = props;
  useEffect(() => {
    onSeen?.(last);
  }, [onSeen, last]);
  return (
    <div
      ref={scroller}
      className={`rows ${props.className}`}
      role={props.role}
      aria-label={props.label}
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
      <div role="rowgroup" className="body" style={{ height: `${virtualizer.getTotalSize()}px` }}>
        {items.map(({ index }) => (
          <Line key={index} list={props} index={index} />
        ))}
      </div>
    </div>
  );
}

interface LineProps {
  readonly list: RowListProps;
  readonly index: number;
}

/** A row. While only the scroll position changes, the list stays the same, and rows that stay are not rendered again. */
const Line = memo(function Line({ list, index }: LineProps) {
  const { id, active, aria, rowClass, row, onActive, onOpen } = list;
  const { level, expanded } = aria?.(index) ?? {};
  return (
    <div
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
});
