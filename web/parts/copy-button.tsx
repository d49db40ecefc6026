import { useState } from "preact/hooks";

interface CopyProps {
  readonly label: string;
  readonly text: () => string;
  readonly title?: string;
}

/** Puts a text on the clipboard and says so for a moment. */
export function CopyButton({ label, text, title }: CopyProps) {
  const [said, setSaid] = useState<string | undefined>(undefined);
  const copy = (): void => {
    navigator.clipboard.writeText(text()).then(
      () => setSaid("copied"),
      () => setSaid("not allowed"),
    );
    setTimeout(() => setSaid(undefined), 1500);
  };
  return (
    <button class="quiet" title={title} onClick={copy}>
      <span aria-live="polite">{said ?? label}</span>
    </button>
  );
}
