import { useState } from "preact/hooks";
import { GROUPS } from "./load-usage.ts";

interface GroupPickerProps {
  readonly group: string;
  readonly onGroup: (group: string) => void;
}

/** A group that has a name, or any field of calls. */
export function GroupPicker({ group, onGroup }: GroupPickerProps) {
  const [choosing, setChoosing] = useState(false);
  const known = Object.hasOwn(GROUPS, group);
  if (choosing) {
    return (
      <form
        class="tools"
        onSubmit={(event) => {
          event.preventDefault();
          setChoosing(false);
          const field = new FormData(event.currentTarget).get("field");
          if (typeof field === "string" && field !== "") onGroup(field);
        }}
      >
        <input
          name="field"
          aria-label="Field to group by"
          placeholder="attributes.tenant"
          defaultValue={known ? "" : group}
        />
        <button type="submit">Group</button>
      </form>
    );
  }
  return (
    <label>
      by{" "}
      <select
        value={group}
        onChange={(event) => {
          const { value } = event.currentTarget;
          if (value === "…") setChoosing(true);
          else onGroup(value);
        }}
      >
        {Object.entries(GROUPS).map(([name, label]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
        {!known && <option value={group}>{group}</option>}
        <option value="…">a field …</option>
      </select>
    </label>
  );
}
