import { useState } from "react";
import { DayPicker } from "react-day-picker";
import "react-day-picker/style.css";
import "../style/calendar.css";

/** Midnights, as clocks of the shown zone. */
interface CalendarProps {
  readonly from?: number;
  /** After the last day. */
  readonly to?: number;
  readonly today: number;
  readonly onDays: (from: number, to: number) => void;
}

const DAY_MS = 86_400_000;

/** Days of the shown zone. The first click begins a range, the second ends it. */
export function Calendar({ from, to, today, onDays }: CalendarProps) {
  const [first, setFirst] = useState<Date | undefined>(undefined);
  const shown = { from: new Date(from ?? today), to: new Date((to ?? today) - DAY_MS) };
  return (
    <DayPicker
      mode="range"
      timeZone="UTC"
      weekStartsOn={1}
      today={new Date(today)}
      defaultMonth={shown.to}
      endMonth={new Date(today)}
      disabled={{ after: new Date(today) }}
      selected={first === undefined ? shown : { from: first, to: first }}
      onSelect={(_days, day) => {
        setFirst(first === undefined ? day : undefined);
        const days = [first ?? day, day].map(Number);
        onDays(Math.min(...days), Math.max(...days) + DAY_MS);
      }}
    />
  );
}
