import { useRef, useState, type CSSProperties, type ReactNode } from "react";

interface SplitProps {
  /** There are two sides. */
  readonly isOpen: boolean;
  readonly children: ReactNode;
}

const NAME = "sumtree-divider";
const DEFAULT = 0.5;
const [LEAST, MOST] = [0.25, 0.75];

/** Tree and details: side by side where they fit, with a divider that stays where it was put, or one below the other. */
export function Split({ isOpen, children }: SplitProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [share, setShare] = useState(kept);
  const move = (next: number): void => {
    const bounded = Math.min(MOST, Math.max(LEAST, next));
    setShare(bounded);
    localStorage.setItem(NAME, String(bounded));
  };
  return (
    <div ref={frame} className="split" style={{ "--share": `${share * 100}%` } as CSSProperties}>
      {children}
      {isOpen && (
        <div
          className="divider"
          role="separator"
          aria-orientation="vertical"
          aria-label="Width of the tree"
          aria-valuemin={LEAST * 100}
          aria-valuemax={MOST * 100}
          aria-valuenow={Math.round(share * 100)}
          tabIndex={0}
          onKeyDown={({ key }) => {
            const step = { ArrowLeft: -0.02, ArrowRight: 0.02 }[key];
            if (step !== undefined) move(share + step);
          }}
          onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
          onPointerMove={(event) => {
            const box = frame.current?.getBoundingClientRect();
            if (event.buttons === 1 && box !== undefined) move((event.clientX - box.left) / box.width);
          }}
        />
      )}
    </div>
  );
}

function kept(): number {
  const share = Number(localStorage.getItem(NAME) ?? DEFAULT);
  return share >= LEAST && share <= MOST ? share : DEFAULT;
}
