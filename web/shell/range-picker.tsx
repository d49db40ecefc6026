import { useState } from "react";
import { formatInterval } from "../format/instants.ts";
import { clockOf, instantOf, midnightOf, printClock, readClock } from "../format/local-time.ts";
import { CopyButton } from "../components/copy-button.tsx";
import { Menu } from "../components/menu.tsx";
import { lazy } from "../components/lazy.tsx";
import { printAddress, type UrlState } from "../state/url-state.ts";
import {
  COMPARISONS,
  DEFAULT_RANGE,
  isRange,
  printWindow,
  RANGES,
  readWindow,
  type TimeRange,
} from "../state/time-range.ts";

const Calendar = lazy("calendar", () => import("./calendar.tsx").then((module) => module.Calendar));

interface RangePickerProps {
  readonly address: UrlState;
  readonly window: TimeRange;
  readonly zone: string;
  readonly change: (more: Readonly<Record<string, string>>) => void;
}

/** Named ranges, or two instants by the clock of the shown zone; what they are compared with; a link that fixes them. */
export function RangePicker({ address, window, zone, change }: RangePickerProps) {
  const [isComparing, setComparing] = useState(false);
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
          {!isComparing && (
            <Between
              {...{ window, zone }}
              action="Show"
              onWindow={(text) => {
                close();
                change({ window: text });
              }}
            />
          )}
          <Comparison {...{ compare, window, zone, change, isComparing, setComparing }} />
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

interface ComparisonProps extends Pick<RangePickerProps, "window" | "zone" | "change"> {
  readonly compare: string;
  /** Another period is being chosen. */
  readonly isComparing: boolean;
  readonly setComparing: (isComparing: boolean) => void;
}

/** The period before, or another one. */
function Comparison({ compare, window, zone, change, isComparing, setComparing }: ComparisonProps) {
  const isOther = !Object.hasOwn(COMPARISONS, compare);
  const other = isOther ? readWindow(compare, { now: Date.now(), zone }) : undefined;
  const lengthMs = (window.toMs ?? Date.now()) - window.fromMs;
  const proposed = { fromMs: window.fromMs - lengthMs, toMs: window.fromMs };
  return (
    <>
      <label>
        Compare with{" "}
        <select
          value={isComparing ? OTHER : compare}
          onChange={({ currentTarget: { value } }) => {
            setComparing(value === OTHER);
            if (value !== OTHER) change({ compare: value });
          }}
        >
          {Object.entries(COMPARISONS).map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
          {isOther && (
            <option value={compare}>
              {other?.toMs === undefined ? compare : formatInterval(other.fromMs, other.toMs, zone)}
            </option>
          )}
          <option value={OTHER}>Another period …</option>
        </select>
      </label>
      {isComparing && (
        <Between
          window={other ?? proposed}
          zone={zone}
          action="Compare"
          onWindow={(text) => {
            setComparing(false);
            change({ compare: text });
          }}
        />
      )}
    </>
  );
}

const OTHER = "other";

interface BetweenProps {
  readonly window: TimeRange;
  readonly zone: string;
  readonly action: string;
  readonly onWindow: (text: string) => void;
}

/** Days of a calendar, or two times of the clock. */
function Between({ window, zone, action, onWindow }: BetweenProps) {
  const now = clockOf(Date.now(), zone);
  const [from, setFrom] = useState(() => printClock(clockOf(window.fromMs, zone)));
  const [to, setTo] = useState(() =>
    printClock(window.toMs === undefined ? now : clockOf(window.toMs, zone)),
  );
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
      <Calendar
        {...(isValid && { from: midnightOf(fromClock), to: midnightOf(toClock - 1, 1) })}
        today={midnightOf(now)}
        onDays={(first, end) => {
          setFrom(printClock(first));
          setTo(printClock(end));
        }}
      />
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
        {action}
      </button>
    </form>
  );
}
