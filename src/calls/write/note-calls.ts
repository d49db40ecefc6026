import type { Engine } from "../../store/engine.ts";
import type { Project } from "../../shared/project.ts";
import { createHourNotes } from "./note-hours.ts";

/** A row to write to `calls`. */
export interface CallRow {
  readonly project_id: Project;
  readonly trace_id: string;
  readonly id: string;
  readonly hour: number;
  readonly started_at?: unknown;
  readonly ended_at?: unknown;
}

export type NoteCalls = (rows: readonly CallRow[]) => Promise<void>;

/**
 * Notes where calls will be stored, before they are written: every stored call is noted, though a noted call may not be
 * stored. `call_traces` maps a call's id to its trace and hour, and `call_hours` an hour to the key hours of the calls
 * that started or ended in it. `NoteTraces` has noted their traces.
 */
export function createCallNotes(engine: Engine): NoteCalls {
  const noteHours = createHourNotes(engine);
  return async (rows) => {
    const started = rows.filter((row) => row.started_at != null);
    await Promise.all([
      engine.insert(
        "call_traces",
        started.map(({ project_id, id, trace_id, hour }) => ({ project_id, id, trace_id, hour })),
        { name: "call_traces_add" },
      ),
      noteHours(rows),
    ]);
  };
}
