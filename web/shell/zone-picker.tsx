import { useMemo, useState } from "preact/hooks";
import { isZone } from "../numbers/instants.ts";

interface ZonePickerProps {
  readonly zone: string;
  readonly onZone: (zone: string) => void;
}

/** The zone whose midnights begin the days. */
export function ZonePicker({ zone, onZone }: ZonePickerProps) {
  const [text, setText] = useState(zone);
  const zones = useMemo(() => ["UTC", ...Intl.supportedValuesOf("timeZone")], []);
  const choose = (value: string): void => {
    setText(value);
    if (value !== zone && isZone(value) && (zones.includes(value) || value.includes("/"))) onZone(value);
  };
  return (
    <>
      <input
        class="zone"
        aria-label="Time zone"
        aria-invalid={!isZone(text)}
        list="zones"
        value={text}
        onFocus={(event) => event.currentTarget.select()}
        onChange={(event) => choose(event.currentTarget.value)}
        onBlur={() => !isZone(text) && setText(zone)}
      />
      <datalist id="zones">
        {zones.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}
