import type { Reach } from "../query/index.ts";
import type { Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";

/** Which calls an answer has entries for. */
export interface Selection {
  readonly project: Project;
  /** The filter AND the query, over the columns of `calls`. */
  readonly condition: Sql;
  /** Where the selected calls can lie; it is applied before anything is read. */
  readonly reach: Reach;
  /** The condition reads payloads or feedback: it is not asked again with every piece of the answer. */
  readonly evaluateOnce: boolean;
  /** The trace, when the filter names just one: it can be read at once. */
  readonly onlyTrace: string | undefined;
  /** At most this many calls, oldest first. */
  readonly limit: number;
}

export interface SelectedTrace {
  readonly traceId: string;
  /** How many calls it has, selected or not. */
  readonly callCount: number;
  /** The selected calls; undefined when the reader evaluates the condition itself. */
  readonly ids: ReadonlySet<string> | undefined;
}

/** The traces of the selected calls, oldest first, so that those read together lie together. */
export interface SelectedTraces {
  readonly traces: readonly SelectedTrace[];
  /** More calls match than the limit allows. */
  readonly truncated: boolean;
}
