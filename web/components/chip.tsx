import { oneLine } from "../format/plain-text.ts";

interface ChipProps {
  readonly text: string;
  /** Accessible name of the button. */
  readonly remove: string;
  readonly onRemove: () => void;
}

/** A text that can be removed. */
export function Chip({ text, remove, onRemove }: ChipProps) {
  return (
    <span className="chip">
      <bdi>{oneLine(text, 80)}</bdi>
      <button className="quiet" aria-label={oneLine(remove, 100)} onClick={onRemove}>
        ×
      </button>
    </span>
  );
}
