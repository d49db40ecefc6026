import type { ReactNode } from "react";
import { Table } from "./table.tsx";

interface PlainTableProps<Row> {
  readonly caption: string;
  /** What is said if there are no rows. */
  readonly none: string;
  readonly rows: readonly Row[];
  /** The first names the row; one of buttons has no name. */
  readonly columns: readonly {
    readonly name: string;
    readonly isNumber?: boolean;
    readonly cell: (row: Row) => ReactNode;
  }[];
}

/** A table of a few rows below a caption. */
export function PlainTable<Row>({ caption, none, rows, columns }: PlainTableProps<Row>) {
  if (rows.length === 0) return <p className="dim">{none}</p>;
  const kinds = columns.map(({ isNumber = false, ...column }) => ({
    ...column,
    kind: isNumber ? "number" : "",
  }));
  return <Table label={caption} className="plain" hasCaption columns={kinds} rows={rows} />;
}
