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
  printWindow,
  RANGES,
  readWindow,
  type TimeRange,
} from "../state/time-range.ts";

const Calendar = lazy("calendar", async () => (await import("./calendar.tsx")).Calendar);

interface RangePickerProps {
  readonly address: UrlState;
  readonly window: TimeRange;
  readonly zone: string;
  readonly change: (more: UrlState["options"]) => void;
}

/** Named ranges, or two instants by the clock of the shown zone; what they are compared with; a link that fixes them. */
export function RangePicker({ address, window, zone, change }: RangePickerProps) {
  const { window: range = DEFAULT_RANGE, compare = "" } = address.options;
  const now = Date.now();
  const toMs = window.toMs ?? now;
  const label = RANGES.get(range)?.label ?? formatInterval(window.fromMs, toMs, zone);
  const other = Object.hasOwn(COMPARISONS, compare) ? undefined : readWindow(compare, { now, zone });
  return (
    <Menu label={label} name={`Range: ${label}`} className="range">
      {(close) => (
        <div className="form">
          <div className="named" role="group" aria-label="Ranges">
            {[...RANGES].map(([name, { label: text }]) => (
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
            onPeriod={(period) => {
              close();
              change(period);
            }}
          />
          <label>
            Compare with
            <select value={compare} onChange={({ currentTarget: { value } }) => change({ compare: value })}>
              {Object.entries(COMPARISONS).map(([name, text]) => (
                <option key={name} value={name}>
                  {text}
                </option>
              ))}
              {other?.toMs !== undefined && (
                <option value={compare}>{formatInterval(other.fromMs, other.toMs, zone)}</option>
              )}
            </select>
          </label>
          <CopyButton
            label="Copy a link with these times"
            text={() => {
              const fixed = { window: printWindow({ fromMs: window.fromMs, toMs }), zone };
              const options = { ...address.options, ...fixed };
              return new URL(printAddress({ ...address, options }), document.baseURI).href;
            }}
          />
        </div>
      )}
    </Menu>
  );
}

interface BetweenProps extends Pick<RangePickerProps, "window" | "zone"> {
  readonly onPeriod: (period: Partial<Record<"window" | "compare", string>>) => void;
}

/** Days of a calendar, or two times of the clock, to be shown or compared with. */
function Between({ window, zone, onPeriod }: BetweenProps) {
  const now = clockOf(Date.now(), zone);
  const [from, setFrom] = useState(() => printClock(clockOf(window.fromMs, zone)));
  const [to, setTo] = useState(() =>
    printClock(window.toMs === undefined ? now : clockOf(window.toMs, zone)),
  );
  const [fromClock, toClock] = [readClock(from), readClock(to)];
  const isValid = fromClock < toClock;
  const printed = (): string =>
    printWindow({ fromMs: instantOf(fromClock, zone), toMs: instantOf(toClock, zone) });
  return (
    <form
      className="between"
      onSubmit={(event) => {
        event.preventDefault();
        if (isValid) onPeriod({ window: printed() });
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
      <div className="tools">
        <button type="submit" className="main" disabled={!isValid}>
          Show
        </button>
        <button type="button" disabled={!isValid} onClick={() => onPeriod({ compare: printed() })}>
          Compare with it
        </button>
      </div>
    </form>
  );
}
