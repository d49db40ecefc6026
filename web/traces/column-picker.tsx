import {
  COLUMN_NAMES,
  COLUMNS,
  MAX_PX,
  MIN_PX,
  widthOf,
  withShown,
  withWidth,
  type Layout,
} from "./columns.ts";

interface ColumnPickerProps {
  readonly layout: Layout;
  readonly onLayout: (layout: Layout) => void;
}

/** Which columns are shown, and how wide. A pointer can also drag the edge of a column. */
export function ColumnPicker({ layout, onLayout }: ColumnPickerProps) {
  return (
    <>
      <button className="quiet" popoverTarget="columns">
        columns
      </button>
      <fieldset id="columns" className="columns" popover="auto">
        <legend className="unseen">Columns</legend>
        {COLUMN_NAMES.map((column) => {
          const { label } = COLUMNS[column];
          const isShown = !layout.hidden.includes(column);
          return (
            <div key={column}>
              <label>
                <input
                  type="checkbox"
                  checked={isShown}
                  onChange={(event) => onLayout(withShown(layout, column, event.currentTarget.checked))}
                />{" "}
                {label}
              </label>
              <input
                type="number"
                aria-label={`Width of ${label} in pixels`}
                min={MIN_PX}
                max={MAX_PX}
                step={4}
                disabled={!isShown}
                value={widthOf(layout, column)}
                onChange={(event) => onLayout(withWidth(layout, column, Number(event.currentTarget.value)))}
              />
            </div>
          );
        })}
        <button onClick={() => onLayout({ hidden: [], px: {} })}>Reset columns</button>
      </fieldset>
    </>
  );
}
