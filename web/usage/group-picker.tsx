import { Chip } from "../components/chip.tsx";
import { FieldPicker } from "../components/field-picker.tsx";
import { Menu } from "../components/menu.tsx";
import { Segments } from "../components/segments.tsx";
import { ERROR, FREQUENT, GROUPS, MAX_GROUPS, nameOfGroup, OF_AGENTS } from "../state/groups.ts";
import type { UsageQuestion } from "./load-usage.ts";

interface GroupPickerProps {
  readonly question: UsageQuestion;
  readonly onGroups: (groups: readonly string[]) => void;
}

const BUTTONS: Readonly<Record<string, string>> = { ...FREQUENT, [ERROR]: "Error" };

/** The groups of the bars: named groups, or any fields of calls. */
export function GroupPicker({ question, onGroups }: GroupPickerProps) {
  const { groups } = question;
  const only = groups.length === 1 ? groups[0]! : "";
  return (
    <>
      <Segments label="Group by" all={BUTTONS} chosen={only} onChoose={(group) => onGroups([group])} />
      <Segments
        label="Group agents by"
        all={OF_AGENTS}
        chosen={only}
        onChoose={(group) => onGroups([group])}
      />
      {!Object.hasOwn(BUTTONS, only) &&
        !Object.hasOwn(OF_AGENTS, only) &&
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
            <FieldPicker
              label="Group by"
              place={question}
              named={GROUPS.filter((name) => !groups.includes(name)).map((name) => ({
                value: name,
                label: nameOfGroup(name),
              }))}
              onChoose={(group) => {
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
