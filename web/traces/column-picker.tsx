import { COLUMN_NAMES, COLUMNS, type Column } from "./columns.ts";

interface ColumnPickerProps {
  readonly hidden: readonly Column[];
  readonly onHidden: (hidden: readonly Column[]) => void;
}

/** Which columns are shown. */
export function ColumnPicker({ hidden, onHidden }: ColumnPickerProps) {
  return (
    <>
      <button className="quiet" popoverTarget="columns">
        columns
      </button>
      <fieldset id="columns" className="columns" popover="auto">
        <legend className="unseen">Columns</legend>
        {COLUMN_NAMES.map((column) => (
          <label key={column}>
            <input
              type="checkbox"
              checked={!hidden.includes(column)}
              onChange={({ currentTarget: { checked } }) =>
                onHidden(checked ? hidden.filter((name) => name !== column) : [...hidden, column])
              }
            />{" "}
            {COLUMNS[column].label}
          </label>
        ))}
      </fieldset>
    </>
  );
}
