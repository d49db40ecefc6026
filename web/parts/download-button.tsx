import { useState } from "preact/hooks";

interface DownloadProps {
  readonly label: string;
  readonly name: string;
  readonly text: () => string | Promise<string>;
}

/** A file made of what is shown, with every digit. Says so while it is made, and when it cannot be. */
export function DownloadButton({ label, name, text }: DownloadProps) {
  const [said, setSaid] = useState<string | undefined>(undefined);
  const download = async (): Promise<void> => {
    setSaid("reading …");
    try {
      save(name, await text());
      setSaid(undefined);
    } catch {
      setSaid(`${label}: could not be read, try again`);
    }
  };
  return (
    <button class="quiet" onClick={() => void download()}>
      <span aria-live="polite">{said ?? label}</span>
    </button>
  );
}

function save(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
