import type { Engine } from "../store/engine.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import type { Group } from "./group.ts";

/** What the fold that makes entries is called. What another one made is not used: raise it when an entry means something else. */
export const VERSION = 3;

/** What the ledger has of a part of a group under an hour. It is true of the rows and traces that it names alone. */
export interface Head extends Group {
  readonly hour: number;
  readonly part: number;
  /** So many make the group. */
  readonly parts: number;
  readonly settlement: string;
  /** Of the hours of the group, see `Fingerprints`. */
  readonly fingerprint: string;
  /** See `SpanningUnderHour`: of the group's traces under this hour, or, of an hour's own, of all that are left out. */
  readonly digest: string;
  readonly entries: number;
  /** When its first and last call started, in microseconds since the epoch; 0 without calls. */
  readonly first_at: number;
  readonly last_at: number;
  /** See `readServed`. */
  readonly served: readonly string[];
}

/** `hours`: a condition on `hour`. */
export function readHeads(
  engine: Engine,
  project: Project,
  hours: Sql,
  signal: AbortSignal,
): Promise<readonly Head[]> {
  return engine.rows<Head>(
    sql`SELECT hour, first_hour AS first, last_hour AS last, part, toString(settlement) AS settlement,
          head.parts AS parts, toString(head.fingerprint) AS fingerprint, toString(head.digest) AS digest, head.entries AS entries,
          head.first_at AS first_at, head.last_at AS last_at, head.served AS served
        FROM usage_ledger FINAL
        WHERE project_id = ${param("String", project)} AND is_entry = 0 AND ${hours}
          AND head.version = ${param("UInt32", VERSION)}`,
    { name: "ledger_find", limits: "heavy", signal },
  );
}
