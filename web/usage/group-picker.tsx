import { Chip } from "../components/chip.tsx";
import { Menu } from "../components/menu.tsx";
import { Segments } from "../components/segments.tsx";
import { FREQUENT, GROUPS, MAX_GROUPS, nameOfGroup } from "../state/groups.ts";

interface GroupPickerProps {
  readonly groups: readonly string[];
  readonly onGroups: (groups: readonly string[]) => void;
}

/** The groups of the bars: named groups, or any fields of calls. */
export function GroupPicker({ groups, onGroups }: GroupPickerProps) {
  const only = groups.length === 1 ? groups[0]! : "";
  const isFrequent = Object.hasOwn(FREQUENT, only);
  return (
    <>
      <Segments label="Group by" all={FREQUENT} chosen={only} onChoose={(group) => onGroups([group])} />
      {!isFrequent &&
        groups.map((group) => (
          <Chip
            key={group}
            text={nameOfGroup(group)}
            remove={`Do not group by ${nameOfGroup(group)}`}
            onRemove={() => onGroups(groups.filter((one) => one !== group))}
          />
        ))}
      {groups.length < MAX_GROUPS && (
        <Menu label="+ group" name="Add a group">
          {(close) => (
            <AddGroup
              {...{ groups }}
              onAdd={(group) => {
                close();
                onGroups([...new Set([...groups, group])]);
              }}
            />
          )}
        </Menu>
      )}
    </>
  );
}

interface AddGroupProps {
  readonly groups: readonly string[];
  readonly onAdd: (group: string) => void;
}

function AddGroup({ groups, onAdd }: AddGroupProps) {
  return (
    <>
      {GROUPS.filter((name) => !groups.includes(name)).map((name) => (
        <button key={name} className="quiet" onClick={() => onAdd(name)}>
          {nameOfGroup(name)}
        </button>
      ))}
      <form
        className="tools"
        onSubmit={(event) => {
          event.preventDefault();
          const field = new FormData(event.currentTarget).get("field");
          if (typeof field === "string" && field.trim() !== "") onAdd(field.trim());
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
    </>
  );
}
