interface SegmentsProps {
  readonly label: string;
  /** Labels by value. */
  readonly all: Readonly<Record<string, string>>;
  readonly chosen: string;
  readonly onChoose: (value: string) => void;
}

/** A few values, of which one holds. */
export function Segments({ label, all, chosen, onChoose }: SegmentsProps) {
  return (
    <div className="segments" role="group" aria-label={label}>
      {Object.entries(all).map(([value, text]) => (
        <button key={value} aria-pressed={value === chosen} onClick={() => onChoose(value)}>
          {text}
        </button>
      ))}
    </div>
  );
}
