import { useState } from "react";
import { ApiError } from "../api/failure.ts";
import { oneLine } from "../format/plain-text.ts";
import { Dialog } from "../components/dialog.tsx";

interface ConfirmProps {
  readonly title: string;
  readonly text: string;
  readonly label: string;
  readonly act: () => Promise<unknown>;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Asks before something is done that cannot be undone, and says if it failed. */
export function Confirm({ title, text, label, act, onDone, onClose }: ConfirmProps) {
  const [fault, setFault] = useState<string | undefined>(undefined);
  return (
    <Dialog label={title} onClose={onClose}>
      <h2>{title}</h2>
      <p>{text}</p>
      {fault !== undefined && (
        <p className="failed" role="alert">
          {oneLine(fault)}
        </p>
      )}
      <div className="tools">
        <button
          className="main"
          onClick={() => {
            act().then(onDone, (error: unknown) => setFault(faultOf(error)));
          }}
        >
          {label}
        </button>
        <button onClick={onClose}>Cancel</button>
      </div>
    </Dialog>
  );
}

/** Error message of a failed change. */
export function faultOf(error: unknown): string {
  const failure = error instanceof ApiError ? error.failure : undefined;
  return failure?.kind === "refused" ? failure.text : "Service unreachable. Nothing was changed.";
}
