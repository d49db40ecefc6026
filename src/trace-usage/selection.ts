import type { Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";

/** Selection of calls. */
export interface Selection {
  readonly project: Project;
  /** SQL condition of filter and query, over the columns of `calls`. */
  readonly condition: Sql;
}

export interface KnownTrace {
  readonly traceId: string;
  /** Ids of the selected calls; `undefined` if the reader evaluates the condition. */
  readonly ids: ReadonlySet<string> | undefined;
}

/** Trace with its number of calls. */
export interface SelectedTrace extends KnownTrace {
  /** Number of its calls, selected or not. */
  readonly callCount: number;
  /** Hour buckets of its calls. */
  readonly hours: readonly number[];
}
