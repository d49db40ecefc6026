import { faultOfKey } from "../api/key.ts";
import type { Whoami } from "../api/routes.ts";
import { Dialog } from "../components/dialog.tsx";

interface OtherKeyProps {
  readonly offered: string;
  readonly me: Whoami;
  readonly onAnswer: (isWanted: boolean) => void;
}

/** A link brought another key: which one is to be used? */
export function OtherKey({ offered, me, onAnswer }: OtherKeyProps) {
  const fault = faultOfKey(offered);
  return (
    <Dialog label="Another key" onClose={() => onAnswer(false)}>
      <h2>{fault === undefined ? "This link brings another key" : "The key of the link cannot be one"}</h2>
      <p>
        You are signed in as “{me.name}”.{" "}
        {fault ?? (
          <>
            The key of the link begins with <code>{offered.slice(0, 8)}…</code>.
          </>
        )}
      </p>
      <div className="tools">
        <button className="main" onClick={() => onAnswer(false)}>
          Keep mine
        </button>
        {fault === undefined && <button onClick={() => onAnswer(true)}>Use the key of the link</button>}
      </div>
    </Dialog>
  );
}
