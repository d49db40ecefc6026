import { rangesFor, type NativeReader, type TextRanges } from "../../store/rows/native-reader.ts";
import { columns, computedColumns } from "../../query/fields/columns.ts";
import { sql, type Sql } from "../../query/sql.ts";
import type { WindowPlan } from "../plan/plan-stats.ts";

/** Latency of a call that has not ended. */
const NO_LATENCY = Number.MIN_SAFE_INTEGER;
const latencyMs = computedColumns.get("latency_ms")!.sql;
const exception = columns.get("exception")!.sql;

type Requested = Pick<WindowPlan, "dimensions" | "latency">;

/** Columns read beside those of the fold: failure, latency and the call's values of the group key. */
export class CallColumns {
  private errors = new Uint8Array(0);
  private latencies = new Float64Array(0);
  private keys: TextRanges = rangesFor(0);
  private readonly source: Buffer;
  private readonly requested: Requested;

  /** SQL of the columns, each after a comma. `selected`: condition on calls; columns of others are not evaluated. */
  static select({ dimensions, latency }: Requested, selected: Sql): Sql {
    const latencies = latency === undefined ? sql`` : sql`, toInt64(ifNull(${latencyMs}, -9007199254740991))`;
    const keys =
      dimensions.callKey === undefined ? sql`` : sql`, if(ifNull(${selected}, 0), ${dimensions.callKey}, '')`;
    return sql`, toUInt8(${exception} != '')${latencies}${keys}`;
  }

  constructor(source: Buffer, requested: Requested) {
    this.source = source;
    this.requested = requested;
  }

  /** Reads the columns of a block of calls. */
  readonly readBlock = (reader: NativeReader, first: number, count: number): void => {
    const size = first + count;
    const { requested } = this;
    const errors = new Uint8Array(size);
    errors.set(this.errors);
    errors.set(reader.uint8s(), first);
    this.errors = errors;
    if (requested.latency !== undefined) {
      const latencies = new Float64Array(size);
      latencies.set(this.latencies);
      reader.int64s(latencies, first);
      this.latencies = latencies;
    }
    if (requested.dimensions.callKey === undefined) return;
    const keys = rangesFor(size);
    keys.starts.set(this.keys.starts);
    keys.ends.set(this.keys.ends);
    reader.strings(keys, first);
    this.keys = keys;
  };

  isError(call: number): boolean {
    return this.errors[call] === 1;
  }

  /** Undefined if not requested, or if the call has not ended. */
  latencyOf(call: number): number | undefined {
    const ms = this.latencies[call];
    return ms === NO_LATENCY ? undefined : ms;
  }

  /** Values of the call's fields, one per line. */
  keyOf(call: number): string {
    if (this.requested.dimensions.callKey === undefined) return "";
    return this.source.toString("utf8", this.keys.starts[call], this.keys.ends[call]);
  }
}
