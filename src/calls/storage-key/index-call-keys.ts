import type { Engine } from "../../store/engine.ts";
import type { Project } from "../../shared/project.ts";

/** A row to write to `calls`. */
export interface CallRow {
  readonly project_id: Project;
  readonly trace_id: string;
  readonly id: string;
  readonly hour: number;
}

/**
 * Notes in `call_keys`, by the ids of calls that start, where they will be stored, before they are written: every stored call
 * is noted, though a noted call may not be stored. `NoteTraces` has noted their traces.
 */
export function indexCallKeys(engine: Engine, starts: readonly CallRow[]): Promise<void> {
  return engine.insert(
    "call_keys",
    starts.map(({ project_id, id, trace_id, hour }) => ({ project_id, id, trace_id, hour })),
    { name: "call_keys_add" },
  );
}
