import { useState } from "react";

interface CopyProps {
  readonly label: string;
  readonly text: () => string;
  readonly title?: string;
}

/** Copies a text and confirms it for a moment. */
export function CopyButton({ label, text, title }: CopyProps) {
  const [status, setStatus] = useState<string | undefined>(undefined);
  const copy = (): void => {
    navigator.clipboard.writeText(text()).then(
      () => setStatus("copied"),
      () => setStatus("not allowed"),
    );
    setTimeout(() => setStatus(undefined), 1500);
  };
  return (
    <button className="quiet" title={title} onClick={copy}>
      <span aria-live="polite">{status ?? label}</span>
    </button>
  );
}
