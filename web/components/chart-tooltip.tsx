import { formatPercent } from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";
import { nameOf, noteOf } from "./chart-buckets.ts";
import type { ChartProps, ChartSeries } from "./chart-props.ts";

interface TooltipProps extends Pick<ChartProps, "buckets" | "series" | "totals" | "zone" | "format"> {
  readonly bucket: number;
  /** The middle of the bucket, and how much of the chart lies left of it. */
  readonly xPx: number;
  readonly part: number;
}

/** A bucket in words and numbers. */
export function ChartTooltip({ buckets, series, totals, zone, format, bucket, xPx, part }: TooltipProps) {
  const total = totals?.[bucket];
  const note = noteOf(buckets, bucket, zone);
  const shown = series.filter((one) => isShown(one, bucket, total !== undefined));
  const text = (value: number | null | undefined, isPartial = false): string =>
    value == null ? "—" : `${isPartial ? "≥ " : ""}${format(value).text}`;
  return (
    <div
      className={`tooltip ${part > 0.5 ? "left" : ""}`}
      role="status"
      style={{ "--x": `${xPx}px`, "--part": part } as object}
    >
      <strong>{nameOf(buckets, bucket, zone)}</strong>
      {note !== undefined && <span className="dim"> {note}</span>}
      <table>
        <tbody>
          {(series[0]?.kind === "bars" ? shown.toReversed() : shown).map((one, key) => {
            const value = one.values[bucket] ?? null;
            return (
              <tr key={key}>
                <th scope="row">
                  <i className={`swatch ${one.kind}`} style={{ background: `var(${one.color})` }} />
                  <bdi>{oneLine(one.label, 40)}</bdi>
                </th>
                <td className="number">{text(value, one.isPartial?.[bucket])}</td>
                {total !== undefined && (
                  <td className="number dim">
                    {value !== null && (total.value ?? 0) > 0 && formatPercent(value / total.value!).text}
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
        {total !== undefined && (
          <tfoot>
            <tr>
              <th scope="row">all</th>
              <td className="number">{text(total.value, total.isPartial)}</td>
              <td />
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  );
}

/** Nothing is no row where the series add up. */
function isShown({ values, isPartial }: ChartSeries, bucket: number, addsUp: boolean): boolean {
  return !addsUp || isPartial?.[bucket] === true || (values[bucket] ?? 0) !== 0;
}
