import { Menu } from "../components/menu.tsx";
import { HERE, zonesLike } from "../state/zones.ts";
import { Choices } from "../components/lazy-choices.ts";

interface ZonePickerProps {
  readonly zone: string;
  readonly onZone: (zone: string) => void;
}

/** The zone whose midnights begin the days. */
export function ZonePicker({ zone, onZone }: ZonePickerProps) {
  return (
    <Menu label={zone} name={`Time zone: ${zone}`} className="zone">
      {(close) => (
        <Choices
          label="Time zone"
          placeholder="Berlin, UTC, New York …"
          chosen={zone}
          found={(text) =>
            zonesLike(text).map((name) => ({
              value: name,
              label: name,
              ...(name === HERE && { hint: "this browser" }),
            }))
          }
          none={(text) => `“${text}” is no zone of this list. Zones have names, such as Europe/Berlin.`}
          onChoose={(name) => {
            close();
            onZone(name);
          }}
        />
      )}
    </Menu>
  );
}
