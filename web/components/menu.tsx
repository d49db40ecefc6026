import { useId, useRef, useState, type ReactNode } from "react";

interface MenuProps {
  /** Label of the button. */
  readonly label: ReactNode;
  /** Accessible name. */
  readonly name?: string;
  readonly title?: string;
  readonly className?: string;
  readonly children: (close: () => void) => ReactNode;
}

/** A button with a panel below it. What is in the panel is made when it opens. */
export function Menu({ label, name, title, className: kind = "", children }: MenuProps) {
  const id = useId();
  const panel = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const close = (): void => panel.current?.hidePopover();
  const anchor = `--menu-${id.replaceAll(/\W/g, "")}`;
  return (
    <>
      <button
        type="button"
        className={`menu ${kind}`}
        popoverTarget={id}
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
        className="panel"
        popover="auto"
        style={{ positionAnchor: anchor }}
        onToggle={(event) => setOpen(event.newState === "open")}
      >
        {isOpen && children(close)}
      </div>
    </>
  );
}
