import type { Reach } from "../query/index.ts";
import type { Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";

/** The calls that get entries in the response. */
export interface Selection {
  readonly project: Project;
  /** The filter AND the query, over the columns of `calls`. */
  readonly condition: Sql;
  /** Where the selected calls can be stored; applied before anything is read. */
  readonly reach: Reach;
  /** The condition reads payloads or feedback, so it must not be evaluated again for every piece of the response. */
  readonly evaluateOnce: boolean;
  /** The only trace that the filter names, which can be read at once. */
  readonly onlyTrace: string | undefined;
  /** At most this many calls, oldest first. */
  readonly limit: number;
}

export interface SelectedTrace {
  readonly traceId: string;
  /** The number of its calls, selected or not. */
  readonly callCount: number;
  /** The hours of its calls' keys. */
  readonly hours: readonly number[];
  /** The selected calls; undefined if the reader evaluates the condition itself. */
  readonly ids: ReadonlySet<string> | undefined;
}

/** The traces of the selected calls, oldest first, so that traces read together are stored together. */
export interface SelectedTraces {
  readonly traces: readonly SelectedTrace[];
  /** More calls match than the limit allows. */
  readonly truncated: boolean;
}
