import { useState, type ReactNode } from "react";

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ReactNode;
  /** Class of its cells. */
  readonly kind?: string;
  /** Orders the rows by it, the largest first; undefined: they cannot be. */
  readonly value?: (row: Row) => number | null;
}

interface TableProps<Row> {
  /** Accessible name. */
  readonly label: string;
  readonly className?: string;
  /** The name is shown, too. */
  readonly hasCaption?: boolean;
  /** Text in place of a table without rows. */
  readonly none?: string;
  /** The first one names the rows; one of buttons has no name. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly foot?: readonly Row[];
  /** The column that orders the rows at first; undefined: they stay as they are. */
  readonly sort?: string;
  /** The row that is pointed at, here or elsewhere. */
  readonly hovered?: number | undefined;
  readonly onHover?: (row: number | undefined) => void;
}

/** A table that scrolls where it is wider than its place. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, className, hasCaption = false, columns, rows, foot = [], sort, hovered, onHover } = props;
  const [by, setBy] = useState(sort);
  const valueOf = columns.find(({ name }) => name === by)?.value;
  const sorted = valueOf ? rows.toSorted((a, b) => (valueOf(b) ?? -1) - (valueOf(a) ?? -1)) : rows;
  if (rows.length === 0 && props.none !== undefined) return <p className="dim">{props.none}</p>;
  const cellsOf = (row: Row): ReactNode =>
    columns.map(({ name, kind, cell }, at) =>
      at === 0 ? (
        <th key={name} scope="row">
          {cell(row)}
        </th>
      ) : (
        <td key={name} className={kind}>
          {cell(row)}
        </td>
      ),
    );
  return (
    <div className="wide" tabIndex={0} role="region" aria-label={label}>
      <table className={className} onMouseLeave={() => onHover?.(undefined)}>
        {hasCaption && <caption>{label}</caption>}
        <thead>
          <tr>
            {columns.map(({ name, kind, value }, at) => {
              const Cell = name === "" ? "td" : "th";
              return (
                <Cell
                  key={name}
                  scope={name === "" ? undefined : "col"}
                  className={at === 0 ? "" : kind}
                  aria-sort={name === by ? "descending" : undefined}
                >
                  {sort === undefined || value === undefined ? (
                    name
                  ) : (
                    <button className="sort" onClick={() => setBy(name)}>
                      {name}
                      {name === by && <span aria-hidden="true"> ↓</span>}
                    </button>
                  )}
                </Cell>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {sorted.map((row, at) => (
            <tr key={at} className={at === hovered ? "hovered" : ""} onMouseEnter={() => onHover?.(at)}>
              {cellsOf(row)}
            </tr>
          ))}
        </tbody>
        <tfoot>
          {foot.map((row, at) => (
            <tr key={at}>{cellsOf(row)}</tr>
          ))}
        </tfoot>
      </table>
    </div>
  );
}
