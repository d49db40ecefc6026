import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";

interface MenuProps {
  /** Label of the button. */
  readonly label: ComponentChildren;
  /** Accessible name. */
  readonly name?: string;
  readonly title?: string;
  readonly class?: string;
  readonly children: (close: () => void) => ComponentChildren;
}

/** A button with a panel below it. What is in the panel is made when it opens. */
export function Menu({ label, name, title, class: kind = "", children }: MenuProps) {
  const id = useId();
  const panel = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const close = (): void => panel.current?.hidePopover();
  const anchor = `--menu-${id.replaceAll(/\W/g, "")}`;
  return (
    <>
      <button
        type="button"
        class={`menu ${kind}`}
        popovertarget={id}
        aria-label={name}
        title={title}
        aria-expanded={isOpen}
        style={{ anchorName: anchor }}
      >
        {label} <span aria-hidden="true">▾</span>
      </button>
      <div
        ref={panel}
        id={id}
        class="panel"
        popover="auto"
        style={{ positionAnchor: anchor }}
        onToggle={(event) => setOpen(event.newState === "open")}
      >
        {isOpen && children(close)}
      </div>
    </>
  );
}
