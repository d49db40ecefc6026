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
  return (
    <DayPicker
      mode="range"
      timeZone="UTC"
      weekStartsOn={1}
      today={new Date(today)}
      defaultMonth={new Date((to ?? today) - DAY_MS)}
      endMonth={new Date(today)}
      disabled={{ after: new Date(today) }}
      resetOnSelect
      selected={
        from === undefined || to === undefined
          ? undefined
          : { from: new Date(from), to: new Date(to - DAY_MS) }
      }
      onSelect={(days) => {
        if (days?.from !== undefined) onDays(days.from.getTime(), (days.to ?? days.from).getTime() + DAY_MS);
      }}
    />
  );
}
