import { useState } from "react";

interface Download {
  readonly text: string;
  /** Message about rows that are missing. */
  readonly lacks?: string;
}

interface DownloadProps {
  readonly label: string;
  readonly name: string;
  /** `tell` says how far it is. */
  readonly text: (tell: (progress: string) => void) => Download | Promise<Download>;
}

/** Downloads what is shown, with every digit. Shows progress and failures. */
export function DownloadButton({ label, name, text }: DownloadProps) {
  const [status, setStatus] = useState<string | undefined>(undefined);
  const download = async (): Promise<void> => {
    setStatus("reading …");
    try {
      const { text: whole, lacks } = await text(setStatus);
      save(name, new Blob([whole], { type: "text/csv" }));
      setStatus(lacks);
    } catch {
      setStatus(`${label}: could not be read, try again`);
    }
  };
  return (
    <button className="quiet" onClick={() => void download()}>
      <span aria-live="polite">{status ?? label}</span>
    </button>
  );
}

export function save(name: string, data: Blob): void {
  const url = URL.createObjectURL(data);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
