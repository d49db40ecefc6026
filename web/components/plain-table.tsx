import type { ReactNode } from "react";

interface PlainTableProps<Row> {
  readonly caption: string;
  /** What is said if there are no rows. */
  readonly none: string;
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | undefined;
  /** The first names the row; one of buttons has no name. */
  readonly columns: readonly {
    readonly name: string;
    readonly isNumber?: boolean;
    readonly cell: (row: Row) => ReactNode;
  }[];
}

/** A table of a few rows, which scrolls sideways where it is too wide. */
export function PlainTable<Row>({ caption, none, rows, keyOf, columns }: PlainTableProps<Row>) {
  if (rows.length === 0) return <p className="dim">{none}</p>;
  return (
    <div className="wide" tabIndex={0} role="region" aria-label={caption}>
      <table className="plain">
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, isNumber = false }) => {
              const Cell = name === "" ? "td" : "th";
              return (
                <Cell key={name} className={isNumber ? "number" : ""}>
                  {name}
                </Cell>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ name, isNumber = false, cell }, at) => {
                const Cell = at === 0 ? "th" : "td";
                return (
                  <Cell key={name} scope={at === 0 ? "row" : undefined} className={isNumber ? "number" : ""}>
                    {cell(row)}
                  </Cell>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
