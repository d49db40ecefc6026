import { useState, type ReactNode } from "react";
import { ApiError } from "../api/failure.ts";
import { oneLine } from "../format/plain-text.ts";
import { Dialog } from "./dialog.tsx";

/** Values of a form's inputs by name. A checkbox that is not checked has none. */
export type Fields = Readonly<Record<string, string>>;

interface FormDialogProps {
  readonly title: string;
  /** Inputs and text. */
  readonly children: ReactNode;
  /** Label of the button that submits. */
  readonly submit: string;
  /** It cannot be undone. */
  readonly isDangerous?: boolean;
  readonly act: (fields: Fields) => Promise<unknown>;
  readonly onInput?: (fields: Fields) => void;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** A dialog with a form that is submitted once, closes when that is done, and stays with the error if it failed. */
export function FormDialog(props: FormDialogProps) {
  const { title, children, submit, isDangerous = false, act, onInput, onDone, onClose } = props;
  const [isRunning, setRunning] = useState(false);
  const [fault, setFault] = useState<string | undefined>(undefined);
  const run = async (fields: Fields): Promise<void> => {
    setRunning(true);
    try {
      await act(fields);
      onDone();
      onClose();
    } catch (error) {
      setFault(faultOf(error));
      setRunning(false);
    }
  };
  return (
    <Dialog label={title} onClose={onClose}>
      <form
        className="form"
        onInput={(event) => onInput?.(fieldsOf(event.currentTarget))}
        onSubmit={(event) => {
          event.preventDefault();
          void run(fieldsOf(event.currentTarget));
        }}
      >
        <h2>{title}</h2>
        {children}
        {fault !== undefined && (
          <p className="failed" role="alert">
            {oneLine(fault)}
          </p>
        )}
        <div className="tools">
          <button type="submit" className={isDangerous ? "main danger" : "main"} disabled={isRunning}>
            {submit}
          </button>
          <button type="button" onClick={onClose} disabled={isRunning}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function fieldsOf(form: HTMLFormElement): Fields {
  return Object.fromEntries(new FormData(form)) as Fields;
}

/** Error message of a failed change. */
function faultOf(error: unknown): string {
  const failure = error instanceof ApiError ? error.failure : undefined;
  return failure?.kind === "refused" ? failure.text : "Service unreachable. Nothing was changed.";
}
