import { randomBytes } from "node:crypto";
import type { Project } from "../shared/project.ts";
import { EMPTY_RECORD, type UsageRecord } from "./usage-record.ts";
import type { HourSpan } from "./hour-span.ts";
import { RECORD_VERSION } from "./manifests.ts";
import { MANIFEST, recordRows } from "./record-rows.ts";
import { servedModelsOf } from "./served-models.ts";

/** A row of `usage_rollup`. */
export type RollupRow = Readonly<Record<string, unknown>>;

/** Usage records of one slice under an hour, with the validity fields of `RollupManifest`. */
export interface MaterializedSlice extends HourSpan {
  readonly hour: number;
  readonly slice: number;
  readonly slices: number;
  readonly fingerprint: string;
  /** Fingerprint of `hour` alone. */
  readonly hourFingerprint: string;
  readonly traceSetHash: string;
  readonly records: readonly UsageRecord[];
}

/** Encodes a slice as a manifest row, and rows of records and trace sums with the same columns. */
export function rowsOf(project: Project, materialized: MaterializedSlice): readonly RollupRow[] {
  const { hour, first, last, slice, records } = materialized;
  const key = {
    project_id: project,
    hour,
    first_hour: first,
    last_hour: last,
    slice,
    batch_id: String(randomBytes(8).readBigUInt64LE()),
  };
  const manifest = {
    version: RECORD_VERSION,
    slices: materialized.slices,
    records: records.length,
    fingerprint: materialized.fingerprint,
    hour_fingerprint: materialized.hourFingerprint,
    trace_set_hash: materialized.traceSetHash,
    first_started_at_us: records.reduce(
      (first, one) => Math.min(first, one.started_at_us),
      records[0]?.started_at_us ?? 0,
    ),
    last_started_at_us: records.reduce(
      (last, one) => Math.max(last, one.started_at_us),
      records[0]?.started_at_us ?? 0,
    ),
    llms: servedModelsOf(records),
  };
  return [
    { ...key, kind: MANIFEST, record_no: 0, manifest, ...EMPTY_RECORD },
    ...recordRows(records).map(({ kind, record }, number) => ({
      ...key,
      kind,
      record_no: number + 1,
      manifest: null,
      ...record,
    })),
  ];
}
