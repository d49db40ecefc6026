export interface ChartSeries {
  readonly label: string;
  /** The name of a colour in the style sheet. */
  readonly color: string;
  readonly values: readonly (number | null)[];
  readonly kind: "line" | "bars" | "hidden" | "ghost";
}

export interface ChartProps {
  readonly label: string;
  /** The start of each bucket, in ms. */
  readonly times: readonly number[];
  /** The end of the last bucket. */
  readonly endMs: number;
  readonly series: readonly ChartSeries[];
  /** Bands between two series, by their indexes, as for percentiles. */
  readonly bands?: readonly { readonly between: readonly [number, number]; readonly color: string }[];
  readonly zone: string;
  readonly heightPx: number;
  /** Small ones have no axes. */
  readonly bare?: boolean;
  /** Values are counts: ticks are whole. */
  readonly isCount?: boolean;
  /** Buckets that are not over, or of another length: hatched. */
  readonly isUnusual?: (index: number) => boolean;
  readonly format: (value: number) => string;
  /** The texts of the axis; default: `format`. */
  readonly axis?: (value: number) => string;
  readonly onHover?: (index: number | undefined, at?: { readonly xPx: number; readonly yPx: number }) => void;
  /** The bucket to highlight. */
  readonly hovered?: number | undefined;
  /** A click on a bucket, with the value of the axis that was pointed at. */
  readonly onClick?: (index: number, value: number) => void;
  /** A range was dragged: the first and the last bucket. */
  readonly onDrag?: (first: number, last: number) => void;
}
