import type { FormattedNumber } from "../format/figure.ts";
import type { Buckets } from "./chart-buckets.ts";

export interface ChartSeries {
  readonly label: string;
  /** The name of a colour in the style sheet. */
  readonly color: string;
  /** By bucket; null: unknown, or nothing. Bars stand on those of the series before. */
  readonly values: readonly (number | null)[];
  readonly kind: "bars" | "line" | "ghost";
  /** By bucket: true if the value leaves something out. */
  readonly isPartial?: readonly boolean[];
  /** Link of its bar in a bucket; undefined: the link of the bucket. */
  readonly hrefOf?: (bucket: number) => string | undefined;
}

export interface ChartProps {
  readonly label: string;
  readonly buckets: Buckets;
  readonly series: readonly ChartSeries[];
  /** Sums by bucket, if the series add up. */
  readonly totals?: readonly { readonly value: number | null; readonly isPartial: boolean }[];
  readonly zone: string;
  readonly heightPx: number;
  /** Values are counts: ticks are whole. */
  readonly isCount?: boolean;
  readonly format: (value: number) => FormattedNumber;
  /** Texts of the axis; default: those of `format`. */
  readonly axis?: (value: number) => string;
  /** The bucket that is pointed at, here or elsewhere. */
  readonly hovered: number | undefined;
  readonly onHover: (bucket: number | undefined) => void;
  readonly hrefOf: (bucket: number) => string;
  /** A range of whole buckets was dragged. */
  readonly onZoom: (window: { readonly fromMs: number; readonly toMs: number }) => void;
}
