import { useState } from "react";
import { formatInterval } from "../format/instants.ts";
import { clockOf, instantOf, printClock, readClock } from "../format/local-time.ts";
import { CopyButton } from "../components/copy-button.tsx";
import { Menu } from "../components/menu.tsx";
import { printAddress, type UrlState } from "../state/url-state.ts";
import {
  COMPARISONS,
  DEFAULT_RANGE,
  isRange,
  printWindow,
  RANGES,
  type TimeRange,
} from "../state/time-range.ts";

interface RangePickerProps {
  readonly address: UrlState;
  readonly window: TimeRange;
  readonly zone: string;
  readonly change: (more: Readonly<Record<string, string>>) => void;
}

/** Named ranges, or two instants by the clock of the shown zone; what they are compared with; a link that fixes them. */
export function RangePicker({ address, window, zone, change }: RangePickerProps) {
  const range = address.options["window"] ?? DEFAULT_RANGE;
  const { compare = "" } = address.options;
  const end = window.toMs ?? Date.now();
  const label = isRange(range) ? RANGES[range] : formatInterval(window.fromMs, end, zone);
  const fixed = printWindow({ fromMs: window.fromMs, toMs: end });
  return (
    <Menu label={label} name={`Range: ${label}`} className="range">
      {(close) => (
        <div className="ranges">
          <div className="named" role="group" aria-label="Ranges">
            {Object.entries(RANGES).map(([name, text]) => (
              <button
                key={name}
                className="quiet"
                aria-pressed={name === range}
                onClick={() => {
                  close();
                  change({ window: name });
                }}
              >
                {text}
              </button>
            ))}
          </div>
          <Between
            {...{ window, zone }}
            onWindow={(text) => {
              close();
              change({ window: text });
            }}
          />
          <label>
            Compare with{" "}
            <select value={compare} onChange={(event) => change({ compare: event.currentTarget.value })}>
              {Object.entries(COMPARISONS).map(([name, text]) => (
                <option key={name} value={name}>
                  {text}
                </option>
              ))}
              {!Object.hasOwn(COMPARISONS, compare) && <option value={compare}>{compare}</option>}
            </select>
          </label>
          <CopyButton
            label="Copy a link with these times"
            text={() =>
              new URL(
                printAddress({ ...address, options: { ...address.options, window: fixed, zone } }),
                document.baseURI,
              ).href
            }
          />
        </div>
      )}
    </Menu>
  );
}

interface BetweenProps {
  readonly window: TimeRange;
  readonly zone: string;
  readonly onWindow: (text: string) => void;
}

function Between({ window, zone, onWindow }: BetweenProps) {
  const [from, setFrom] = useState(() => printClock(clockOf(window.fromMs, zone)));
  const [to, setTo] = useState(() => printClock(clockOf(window.toMs ?? Date.now(), zone)));
  const [fromClock, toClock] = [readClock(from), readClock(to)];
  const isValid = fromClock < toClock;
  return (
    <form
      className="between"
      onSubmit={(event) => {
        event.preventDefault();
        if (isValid)
          onWindow(printWindow({ fromMs: instantOf(fromClock, zone), toMs: instantOf(toClock, zone) }));
      }}
    >
      <label>
        From{" "}
        <input type="datetime-local" value={from} onChange={(event) => setFrom(event.currentTarget.value)} />
      </label>
      <label>
        To <input type="datetime-local" value={to} onChange={(event) => setTo(event.currentTarget.value)} />
      </label>
      <p className="dim">By the clock of {zone}</p>
      {!isValid && (
        <p className="failed" role="alert">
          It has to begin before it ends.
        </p>
      )}
      <button type="submit" className="main" disabled={!isValid}>
        Show
      </button>
    </form>
  );
}
