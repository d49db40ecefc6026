import { randomBytes } from "node:crypto";
import type { Project } from "../shared/project.ts";
import { NO_ENTRY, type Entry } from "./entry.ts";
import type { Group } from "./group.ts";
import { VERSION } from "./heads.ts";
import { servedBy } from "./served.ts";

/** A row of `usage_ledger`. */
export type LedgerRow = Readonly<Record<string, unknown>>;

/** What some traces used under an hour, and of which rows and traces that is true: see `Head`. */
export interface SettledUnder extends Group {
  readonly hour: number;
  readonly part: number;
  readonly parts: number;
  readonly fingerprint: string;
  /** Of this hour alone. */
  readonly hourFingerprint: string;
  readonly digest: string;
  readonly entries: readonly Entry[];
}

/** Its head and its entries, all of one shape. */
export function rowsOf(project: Project, settled: SettledUnder): readonly LedgerRow[] {
  const { hour, first, last, part, entries } = settled;
  const settlement = String(randomBytes(8).readBigUInt64LE());
  const place = { project_id: project, hour, first_hour: first, last_hour: last, part, settlement };
  const head = {
    version: VERSION,
    parts: settled.parts,
    entries: entries.length,
    fingerprint: settled.fingerprint,
    hour_fingerprint: settled.hourFingerprint,
    digest: settled.digest,
    first_at: entries.reduce((first_at, { at }) => Math.min(first_at, at), entries[0]?.at ?? 0),
    last_at: entries.reduce((last_at, { at }) => Math.max(last_at, at), entries[0]?.at ?? 0),
    served: servedBy(entries),
  };
  return [
    { ...place, is_entry: 0, entry: 0, head, ...NO_ENTRY },
    ...entries.map((entry, number) => ({ ...place, is_entry: 1, entry: number + 1, head: null, ...entry })),
  ];
}
