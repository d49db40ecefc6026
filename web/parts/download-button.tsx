interface DownloadProps {
  readonly label: string;
  readonly name: string;
  readonly text: () => string;
}

/** A file made of what is shown, with every digit. */
export function DownloadButton({ label, name, text }: DownloadProps) {
  const download = (): void => {
    const url = URL.createObjectURL(new Blob([text()], { type: "text/csv" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  };
  return (
    <button class="quiet" onClick={download}>
      {label}
    </button>
  );
}
