import type { Engine } from "../../store/engine.ts";
import type { Project } from "../../shared/project.ts";

/** Row of `calls`. */
export interface CallRow {
  readonly project_id: Project;
  readonly trace_id: string;
  readonly id: string;
  readonly hour: number;
}

/**
 * Indexes the storage keys of starting calls by id in `call_keys`, before the calls are written: every stored call is
 * indexed, but an indexed call may not be stored. Requires `IndexTraceHours` for their traces.
 */
export function indexCallKeys(engine: Engine, starts: readonly CallRow[]): Promise<void> {
  return engine.insert(
    "call_keys",
    starts.map(({ project_id, id, trace_id, hour }) => ({ project_id, id, trace_id, hour })),
    { name: "call_keys_add" },
  );
}
