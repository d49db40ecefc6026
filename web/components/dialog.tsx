import { useEffect, useRef, type ReactNode } from "react";

interface DialogProps {
  readonly label: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly className?: string;
}

/** A dialog of the browser: it keeps the focus, and Escape or a click beside it closes it. */
export function Dialog({ label, onClose, children, className: kind = "" }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      className={kind}
      aria-label={label}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div className="inside">{children}</div>
    </dialog>
  );
}
