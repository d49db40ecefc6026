import { useEffect, useRef, useState } from "preact/hooks";
import { span } from "../numbers/instants.ts";
import { DEFAULT_SPAN, isSpan, printWindow, readWindow, SPANS } from "../state/time-window.ts";

interface WindowPickerProps {
  /** As in the address. */
  readonly text: string | undefined;
  readonly zone: string;
  readonly onWindow: (text: string) => void;
}

const OTHER = "other";

/** The last hours or days, or a window between two instants. */
export function WindowPicker({ text, zone, onWindow }: WindowPickerProps) {
  const [choosing, setChoosing] = useState(false);
  const { fromMs, toMs } = readWindow(text, Date.now());
  const isOwn = toMs !== undefined;
  return (
    <span class="window">
      <select
        aria-label="Window"
        value={choosing ? OTHER : isOwn ? "own" : isSpan(text) ? text : DEFAULT_SPAN}
        onChange={(event) => {
          const { value } = event.currentTarget;
          setChoosing(value === OTHER);
          if (isSpan(value)) onWindow(value);
        }}
      >
        {Object.entries(SPANS).map(([name, { label }]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
        {isOwn && <option value="own">{span(fromMs, toMs, zone)}</option>}
        <option value={OTHER}>from … to …</option>
      </select>
      {choosing && <Between onWindow={onWindow} onClose={() => setChoosing(false)} />}
    </span>
  );
}

interface BetweenProps {
  readonly onWindow: (text: string) => void;
  readonly onClose: () => void;
}

/** In UTC, which repeats no hour. */
function Between({ onWindow, onClose }: BetweenProps) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.showPopover(), []);
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  const [fromMs, toMs] = [Date.parse(`${from}Z`), Date.parse(`${to}Z`)];
  return (
    <form
      ref={form}
      class="between"
      popover="auto"
      onToggle={(event) => event.newState === "closed" && onClose()}
      onSubmit={(event) => {
        event.preventDefault();
        form.current?.hidePopover();
        onWindow(printWindow({ fromMs, toMs }));
      }}
    >
      <label>
        from{" "}
        <input
          autofocus
          type="datetime-local"
          value={from}
          onInput={(event) => setFrom(event.currentTarget.value)}
        />
      </label>
      <label>
        to <input type="datetime-local" value={to} onInput={(event) => setTo(event.currentTarget.value)} />{" "}
        UTC
      </label>
      <button type="submit" disabled={!(fromMs < toMs)}>
        Show
      </button>
    </form>
  );
}
