import type { Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";

/** Which calls are selected. */
export interface Selection {
  readonly project: Project;
  /** The filter AND the query, over the columns of `calls`. */
  readonly condition: Sql;
}

export interface KnownTrace {
  readonly traceId: string;
  /** The selected calls; undefined if the reader evaluates the condition itself. */
  readonly ids: ReadonlySet<string> | undefined;
}

/** A trace that has been counted. */
export interface SelectedTrace extends KnownTrace {
  /** The number of its calls, selected or not. */
  readonly callCount: number;
  /** The hours of its calls' keys. */
  readonly hours: readonly number[];
}
