import { useState } from "react";
import { oneLine } from "../format/plain-text.ts";
import { GROUPS, MAX_GROUPS, nameOfGroup } from "./groups.ts";

interface GroupPickerProps {
  readonly groups: readonly string[];
  readonly onGroups: (groups: readonly string[]) => void;
}

const FIELD = "…";

/** The groups of the bars: named groups, or any fields of calls. */
export function GroupPicker({ groups, onGroups }: GroupPickerProps) {
  const [choosing, setChoosing] = useState(false);
  const add = (group: string): void => {
    setChoosing(false);
    if (group !== "" && !groups.includes(group)) onGroups([...groups, group]);
  };
  return (
    <>
      <span>by</span>
      {groups.map((group) => (
        <span key={group} className="chip">
          <bdi>{oneLine(nameOfGroup(group), 40)}</bdi>
          <button
            className="quiet"
            aria-label={`Do not group by ${oneLine(nameOfGroup(group), 40)}`}
            onClick={() => onGroups(groups.filter((one) => one !== group))}
          >
            ×
          </button>
        </span>
      ))}
      {choosing && <FieldForm onField={add} />}
      {!choosing && groups.length < MAX_GROUPS && (
        <select
          aria-label="Group by"
          value=""
          onChange={(event) => {
            const { value } = event.currentTarget;
            event.currentTarget.value = "";
            if (value === FIELD) setChoosing(true);
            else add(value);
          }}
        >
          <option value="">+ group</option>
          {Object.entries(GROUPS)
            .filter(([name]) => !groups.includes(name))
            .map(([name, label]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          <option value={FIELD}>a field …</option>
        </select>
      )}
    </>
  );
}

function FieldForm({ onField }: { readonly onField: (field: string) => void }) {
  return (
    <form
      className="tools"
      onSubmit={(event) => {
        event.preventDefault();
        const field = new FormData(event.currentTarget).get("field");
        onField(typeof field === "string" ? field.trim() : "");
      }}
    >
      <input
        name="field"
        aria-label="Field to group by"
        placeholder="attributes.tenant"
        // an address separates fields by commas
        pattern="[^,]*"
      />
      <button type="submit">Group</button>
    </form>
  );
}
