import { useEffect, useId, useRef, useState, type ComponentProps, type KeyboardEvent } from "react";
import { oneLine } from "../format/plain-text.ts";
import type { Suggestion } from "../state/complete-search.ts";

interface SuggestInputProps extends Omit<ComponentProps<"input">, "value" | "onChange"> {
  readonly value: string;
  readonly items: readonly Suggestion[];
  readonly onText: (text: string) => void;
  readonly onOpen: (isOpen: boolean) => void;
}

/** An input with a list of texts for it. Arrows move in the list, Enter takes what is chosen there, Escape closes it. */
export function SuggestInput({ value, items, onText, onOpen, ...input }: SuggestInputProps) {
  const [isOpen, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const isShown = isOpen && items.length > 0;
  const active = isShown ? Math.min(at, items.length - 1) : -1;
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [active]);
  const open = (next: boolean): void => {
    setOpen(next);
    setAt(-1);
    onOpen(next);
  };
  const take = (item: Suggestion): void => {
    onText(item.value);
    // what was chosen may go on: a value follows a name
    open(true);
  };
  const handle = (event: KeyboardEvent): boolean => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      if (!isShown) open(true);
      // between the last and the first one is none: what was typed
      else setAt(((active + 1 + step + items.length + 1) % (items.length + 1)) - 1);
      return true;
    }
    if (event.key === "Enter" && active >= 0) take(items[active]!);
    else if (event.key === "Enter") return (open(false), false);
    else if (event.key === "Escape" && isShown) open(false);
    else return false;
    return true;
  };
  return (
    <span className="suggest">
      <input
        {...input}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={isShown}
        aria-controls={isShown ? id : undefined}
        aria-activedescendant={active >= 0 ? `${id}-${active}` : undefined}
        autoComplete="off"
        spellCheck={false}
        value={value}
        onChange={(event) => {
          onText(event.currentTarget.value);
          open(true);
        }}
        onClick={() => open(true)}
        onBlur={() => open(false)}
        onKeyDown={(event) => handle(event) && event.preventDefault()}
      />
      {isShown && (
        <div ref={list} id={id} role="listbox" aria-label="Suggestions" className="choices suggestions">
          {items.map((item, index) => (
            <div
              key={item.value}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === active}
              // the focus stays in the input
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => take(item)}
            >
              <bdi>{oneLine(item.label, 100)}</bdi>
              <span className="dim">{oneLine(item.hint, 80)}</span>
            </div>
          ))}
        </div>
      )}
    </span>
  );
}
