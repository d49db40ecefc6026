import type { Whoami } from "../api/routes.ts";
import { Dialog } from "../components/dialog.tsx";

interface OtherKeyProps {
  readonly offered: string;
  readonly me: Whoami;
  readonly onAnswer: (isWanted: boolean) => void;
}

/** A link brought another key: which one is to be used? */
export function OtherKey({ offered, me, onAnswer }: OtherKeyProps) {
  return (
    <Dialog label="Another key" onClose={() => onAnswer(false)}>
      <h2>This link brings another key</h2>
      <p>
        You are signed in as “{me.name}”. The key of the link begins with <code>{offered.slice(0, 8)}…</code>.
      </p>
      <div className="tools">
        <button className="main" onClick={() => onAnswer(false)}>
          Keep mine
        </button>
        <button onClick={() => onAnswer(true)}>Use the key of the link</button>
      </div>
    </Dialog>
  );
}
